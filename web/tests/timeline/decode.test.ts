// Decoding of timeline documents: times, rows, and what happens to damaged ones.

import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decode, kNoTrack } from '../../src/timeline/decode';
import { inflateBase64 } from '../../src/timeline/inflate';
import { build } from './document';

const two = () => build([
  { events: [{ start: 5, duration: 10, name: 'a' }, { start: 2 ** 33 + 7, duration: 2 ** 34, name: 'b', link: 0 }] },
  { events: [{ start: 1, duration: 9, name: 'outer' }, { start: 2, duration: 3, name: 'a', depth: 1 }], kind: 'ranges' },
], 2 ** 36);

describe('decode', () => {
  it('makes times absolute, beyond 32 bits too, per track', async () => {
    const t = await decode(two());
    expect([...t.starts]).toEqual([5, 2 ** 33 + 7, 1, 2]);
    expect([...t.durations]).toEqual([10, 2 ** 34, 9, 3]);
    expect(t.problems).toEqual([]);
  });

  it('splits a track into rows by depth', async () => {
    const t = await decode(two());
    expect(t.tracks[1]!.rows.map((row) => [...row.events])).toEqual([[2], [3]]);
  });

  it('reads counters and leaves out samples that are no number', async () => {
    const t = await decode(build([{ samples: [[0, 1], [10, Number.NaN], [20, 3]] }]));
    expect([...t.tracks[0]!.counter!.times]).toEqual([0, 20]);
    expect(t.problems).toEqual(['1 counter samples left out: not a number']);
  });

  it('is content with an empty document', async () => {
    const t = await decode(build([]));
    expect([t.count, t.tracks.length, t.problems.length]).toEqual([0, 0, 0]);
  });
});

describe('decode of damaged documents', () => {
  it('leaves out an event whose name does not exist, and counts it', async () => {
    const document = two();
    document.header.strings = ['a', 'b'];
    const t = await decode(document);
    expect(t.trackOf[2]!).toBe(kNoTrack);
    expect(t.tracks[1]!.rows.map((row) => row.count)).toEqual([0, 1]);
    expect(t.problems).toEqual(['1 events left out: their name does not exist']);
  });

  it('says which column lies outside the data', async () => {
    const document = two();
    document.blob = document.blob.slice(0, 20);
    await expect(decode(document)).rejects.toThrow('Column "start_hi" of the timeline ends at byte 24, but there are 20.');
  });

  it('refuses unknown types, odd offsets and missing columns', async () => {
    const bad = async (change: (columns: ReturnType<typeof two>['header']['columns']) => void) => {
      const document = two();
      change(document.header.columns);
      return decode(document).then(() => 'no error', (error: Error) => error.message);
    };
    expect(await bad((c) => { c[0]!.type = 'toString' as never; })).toContain('unknown type "toString"');
    expect(await bad((c) => { c[0]!.offset = -8; })).toContain('no valid offset and count');
    expect(await bad((c) => { c[0]!.count = 1.5; })).toContain('no valid offset and count');
    expect(await bad((c) => { c.splice(4, 1); })).toBe('The timeline has no column "name".');
    expect(await bad((c) => { c[5]!.count = 3; })).toBe('Column "depth" of the timeline has 3 values instead of 4.');
  });

  it('clamps tracks that name more events than there are', async () => {
    const document = two();
    document.header.tracks[1]!.count = 1000;
    const t = await decode(document);
    expect(t.tracks[1]!.rows.length).toBe(2);
    expect(t.problems[0]!).toContain('998 events or samples named by a header');
  });

  it('keeps an event that two tracks claim in the first', async () => {
    const document = two();
    document.header.tracks[1]!.first = 0;
    const t = await decode(document);
    expect(t.tracks[1]!.rows.length).toBe(0);
    expect(t.problems).toEqual(['2 events claimed by two tracks (the first keeps them)', '2 events that belong to no track']);
  });

  it('cuts links that lead nowhere', async () => {
    const t = await decode(build([{ events: [{ start: 0, duration: 1, name: 'a', link: 7 }, { start: 1, duration: 1, name: 'a', link: 1 }] }]));
    expect([...t.links]).toEqual([-1, -1]);
    expect(t.problems).toEqual(['2 links to events that do not exist']);
  });

  it('refuses a header that is none', async () => {
    await expect(decode({ header: null as never, blob: new ArrayBuffer(0) })).rejects.toThrow('no valid header');
    await expect(decode(build([], Number.NaN))).rejects.toThrow('does not say how long');
  });

  it('drops parts of the critical path without a track', async () => {
    const t = await decode(build([{ events: [{ start: 0, duration: 1, name: 'a' }] }], 10, [
      { track: 10, start_ns: 4, end_ns: 5, name: 'late' }, { track: 10, start_ns: 0, end_ns: 1, name: 'early' },
      { track: 99, start_ns: 0, end_ns: 1, name: 'nowhere' }, { track: 10, start_ns: 1, end_ns: null as never, name: 'open' },
    ]));
    expect(t.path.map((segment) => segment.name)).toEqual(['early', 'late']);
    expect(t.problems).toEqual(['2 parts of the critical path without a track or a time']);
  });
});

describe('inflateBase64', { timeout: 30_000 }, () => {
  let state = 1;
  const bytes = Uint8Array.from({ length: 1_000_000 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
  const text = deflateSync(bytes).toString('base64');

  it('gives back what was deflated, whatever its length', async () => {
    expect(text.length).toBeGreaterThan(2 ** 20);  // so that it is decoded in several pieces
    const buffer = Buffer.from(await inflateBase64(text));
    expect(buffer.equals(bytes)).toBe(true);
    expect((await inflateBase64('')).byteLength).toBe(0);
  });

  it('passes over line breaks', async () => {
    const inflated = await inflateBase64(text.replace(/(.{76})/g, '$1\n'));
    expect(inflated.byteLength).toBe(bytes.length);
  });

  it('says so when the text is cut or no base64', async () => {
    await expect(inflateBase64(text.slice(0, 40_000))).rejects.toThrow('cannot be unpacked');
    await expect(inflateBase64('<script>')).rejects.toThrow('cannot be unpacked');
  });
});
