// Selections and exports, with data of the whole trace and finer data of a part of it.

import { describe, expect, it } from 'vitest';
import { Dataset, keyText, parseKey } from '../../src/timeline/dataset';
import { kMerged } from '../../src/timeline/decode';
import { csvRows } from '../../src/timeline/export';
import { Model } from '../../src/timeline/model';
import { build, type TestTrack } from './document';

const dataset = (tracks: TestTrack[], span: { from: number; to: number } | null) => Dataset.from(build(tracks, 100_000), span);

const merged = () => dataset([
  { name: 'stream 7', events: [{ start: 100, duration: 900, name: '', flags: kMerged, merged: 3 }] },
  { name: 'power', samples: [[0, 1], [400, 90]] },
], null);
const fine = () => dataset([
  { name: 'stream 7', events: [{ start: 100, duration: 50, name: 'gemm' }, { start: 300, duration: 50, name: 'copy' }, { start: 900, duration: 100, name: 'gemm' }] },
  { name: 'power', samples: [[0, 1], [200, 2], [300, 3], [400, 90]] },
], { from: 0, to: 2000 });

describe('a selection', () => {
  it('is written and read', () => {
    expect(keyText({ track: 10, depth: 2, start: 300, name: 'copy' })).toBe('10.2.300');
    expect(parseKey('10.2.300')).toEqual({ track: 10, depth: 2, start: 300, name: null });
    for (const text of [undefined, '', '12', '1.2', 'a.b.c', '1.2.3.4', '-1.0.5', `1.0.${2 ** 54}`]) expect(parseKey(text)).toBeNull();
  });

  it('of a link is found once finer data has it', async () => {
    const model = new Model(await merged());
    model.setSpan({ from: 0, to: 1500 });
    model.selectKey(parseKey('10.0.300'));
    expect(model.selection).toBe(0);  // stands for it
    model.setFine(await fine());
    expect(model.data.nameOf(model.selection)).toBe('copy');
    expect(keyText(model.key!)).toBe('10.0.300');
    model.setSpan({ from: 0, to: 100_000 });
    expect(model.facts!.merged).toBe(3);
    expect(keyText(model.key!)).toBe('10.0.300');
  });

  it('that does not exist selects nothing', async () => {
    const model = new Model(await fine());
    model.selectKey(parseKey('10.0.301'));
    expect([model.selection, model.facts]).toEqual([-1, null]);
    model.selectKey(parseKey('99.0.300'));
    expect(model.selection).toBe(-1);
  });
});

describe('the CSV', () => {
  it('has the events and samples of the window', async () => {
    const model = new Model(await fine());
    model.setSpan({ from: 250, to: 380 });
    expect(csvRows(model)).toEqual([
      ['GPU 0', 'stream 7', 0, 'copy', 300, 50, 1, '', ''],
      ['GPU 0', 'power', '', '', 200, '', '', 2, 'W'],
      ['GPU 0', 'power', '', '', 300, '', '', 3, 'W'],
    ]);
  });

  it('says how many events a merged one stands for', async () => {
    const model = new Model(await merged());
    expect(csvRows(model)[0]).toEqual(['GPU 0', 'stream 7', 0, '(no name)', 100, 900, 3, '', '']);
  });
});
