// Layout, hit testing, search, facts, windows and units.

import { describe, expect, it } from 'vitest';
import { decode } from '../../src/timeline/decode';
import { factsOf, namesakes, neighbour, selfTime } from '../../src/timeline/facts';
import { hitTest } from '../../src/timeline/hit';
import { Labels } from '../../src/timeline/label';
import { kNarrow, kWide, layout, rowTop, tracksBetween } from '../../src/timeline/layout';
import { Names, clean, short } from '../../src/timeline/names';
import { findEvents, matchNames, nextMatch } from '../../src/timeline/search';
import { clampSpan, fitSpan, loadSpan, reveal, snapSpan, zoomAt } from '../../src/timeline/span';
import { bytes, duration, moment, ticks } from '../../src/timeline/units';
import { build } from './document';

const kOpen = { groups: new Set<string>(), tracks: new Set<number>() };

const sample = () => decode(build([
  { name: 'stream 7', events: [{ start: 100, duration: 50, name: 'gemm', link: 3, detail: 1 }, { start: 200, duration: 10, name: 'copy' }] },
  { name: 'power', samples: [[0, 1], [500, 2]] },
  { group: 'process 1', name: 'thread 2', kind: 'ranges', events: [
    { start: 0, duration: 400, name: 'Forward' }, { start: 50, duration: 20, name: 'cudaLaunchKernel', depth: 1 },
    { start: 80, duration: 30, name: 'cudaLaunchKernel', depth: 1 }, { start: 60, duration: 5, name: 'inner', depth: 2 },
  ].sort((a, b) => a.start - b.start) },
], 1000));

describe('layout', () => {
  it('stacks groups, tracks and rows', async () => {
    const place = layout(await sample(), kOpen, kWide);
    expect(place.groups.map((group) => [group.name, group.y])).toEqual([['GPU 0', 0], ['process 1', 28 + 26 + 50]]);
    expect(place.tracks.map((track) => [track.y, track.plotHeight, track.rows])).toEqual([[28, 18, 1], [54, 42, 0], [132, 54, 3]]);
    expect(place.height).toBe(132 + 54 + 8);
  });

  it('collapses tracks to one row and folds groups to a heading', async () => {
    const t = await sample();
    const place = layout(t, { groups: new Set(['GPU 0']), tracks: new Set([12]) }, kNarrow);
    expect(place.tracks.map((track) => track.name)).toEqual(['thread 2']);
    expect(place.tracks[0]!.rows).toBe(1);
    expect(rowTop(place, t.tracks[2]!, 2)).toBe(place.tracks[0]!.plotY);
    expect(rowTop(place, t.tracks[0]!, 0)).toBe(4);
  });

  it('finds the tracks between two heights', async () => {
    const place = layout(await sample(), kOpen, kWide);
    for (let top = 0; top < place.height; top += 7) {
      const expected = place.tracks.filter((track) => track.y < top + 20 && track.y + track.height > top);
      expect(tracksBetween(place, top, top + 20)).toEqual(expected);
    }
  });
});

describe('hitTest', () => {
  const span = { from: 0, to: 1000 };

  it('finds events, also thin ones a few pixels away, and the row', async () => {
    const t = await sample();
    const place = layout(t, kOpen, kWide);
    expect(hitTest(t, place, span, 1000, 120, 30)?.event).toBe(0);
    expect(hitTest(t, place, span, 100, 22, 30)?.event).toBe(1);
    expect(hitTest(t, place, span, 1000, 160, 30)?.event).toBe(-1);
    expect(hitTest(t, place, span, 1000, 62, 132 + 40)?.event).toBe(4);
    expect(hitTest(t, place, span, 1000, 62, 132 + 20)?.event).toBe(3);
  });

  it('finds the sample of a counter, and nothing between tracks', async () => {
    const t = await sample();
    const place = layout(t, kOpen, kWide);
    expect(hitTest(t, place, span, 1000, 600, 60)?.sample).toBe(1);
    expect(hitTest(t, place, span, 1000, 600, 10)).toBeNull();
    expect(hitTest(t, place, span, 1000, -1, 60)).toBeNull();
  });
});

describe('search', () => {
  it('matches all words whatever the case, and orders events by time', async () => {
    const t = await sample();
    const names = new Names(t.header.strings);
    const found = findEvents(t, matchNames(names, 'LAUNCH cuda'), 'x');
    expect([...found.events]).toEqual([3, 5]);
    expect(found.names).toEqual([{ name: t.names[3]!, count: 2, total: 50 }]);
    const both = findEvents(t, matchNames(names, 'e'), 'e');
    expect([...both.starts]).toEqual([...both.starts].sort((a, b) => a - b));
    expect(matchNames(names, '   ').some(Boolean)).toBe(false);
  });

  it('steps forwards and backwards and wraps around', async () => {
    const t = await sample();
    const found = findEvents(t, matchNames(new Names(t.header.strings), 'launch'), 'launch');
    expect(nextMatch(found, t, -1, 60, 1)).toBe(1);
    expect(nextMatch(found, t, -1, 60, -1)).toBe(0);
    expect(nextMatch(found, t, 3, 0, 1)).toBe(1);
    expect(nextMatch(found, t, 5, 0, 1)).toBe(0);
    expect(nextMatch(found, t, 3, 0, -1)).toBe(1);
    expect(nextMatch(findEvents(t, new Uint8Array(9), ''), t, -1, 0, 1)).toBe(-1);
  });
});

describe('facts', () => {
  it('tells relatives, self time and namesakes', async () => {
    const t = await sample();
    expect(selfTime(t, 2)).toBe(400 - 50);
    expect(selfTime(t, 3)).toBe(15);
    expect(selfTime(t, 0)).toBeNull();
    expect(factsOf(t, 0)).toMatchObject({ launcher: 3, detail: { grid: [1, 2, 3] }, launchedCount: 0 });
    expect(factsOf(t, 3)).toMatchObject({ launcher: -1, launched: [0], launchedCount: 1 });
    expect(namesakes(t, t.names[3]!, { from: 75, to: 100 })).toEqual({ count: 1, total: 30 });
    expect([neighbour(t, 3, 1), neighbour(t, 5, 1), neighbour(t, 5, -1)]).toEqual([5, -1, 3]);
  });

  it('give kernels that overlap no self time', async () => {
    const t = await decode(build([{ name: 'stream 7', events: [{ start: 0, duration: 50, name: 'a' }, { start: 40, duration: 50, name: 'b', depth: 1 }] }]));
    expect([selfTime(t, 0), selfTime(t, 1)]).toEqual([null, null]);
  });
});

describe('windows', () => {
  it('stay inside the document and never get too short', () => {
    expect(clampSpan({ from: -50, to: 50 }, 1000)).toEqual({ from: 0, to: 100 });
    expect(clampSpan({ from: 5, to: 5 }, 1000)).toEqual({ from: 0, to: 1000 });
    expect(clampSpan({ from: Number.NaN, to: 1 }, 1000)).toEqual({ from: 0, to: 1000 });
    expect(clampSpan({ from: 500, to: 501 }, 1000)).toEqual({ from: 490.5, to: 510.5 });
    expect(clampSpan({ from: 0, to: 9 }, 0)).toEqual({ from: 0, to: 20 });
  });

  it('zoom about a point that stays where it is', () => {
    const span = zoomAt({ from: 0, to: 1000 }, 0.5, 250, 1000);
    expect(span).toEqual({ from: 125, to: 625 });
    expect(zoomAt({ from: 400, to: 420 }, 0.1, 410, 1000)).toEqual({ from: 400, to: 420 });
  });

  it('fit and reveal an event', () => {
    expect(fitSpan(400, 500, 1000)).toEqual({ from: 385, to: 515 });
    expect(reveal({ from: 0, to: 100 }, 20, 30, 1000)).toEqual({ from: 0, to: 100 });
    expect(reveal({ from: 0, to: 100 }, 520, 530, 1000)).toEqual({ from: 475, to: 575 });
    expect(reveal({ from: 0, to: 100 }, 200, 600, 1000)).toEqual({ from: 140, to: 660 });
  });

  it('move in whole pixels, and load in aligned stretches', () => {
    const snapped = snapSpan({ from: 103, to: 1103 }, 100);
    expect(snapped).toEqual({ from: 100, to: 1100 });
    const loaded = loadSpan({ from: 1030, to: 1930 }, 1e9);
    expect(loaded).toEqual({ from: 512, to: 3584 });
    expect(loadSpan({ from: 1100, to: 2000 }, 1e9)).toEqual(loaded);
  });
});

describe('names', () => {
  it('replace characters that deceive, and cut what is endless', () => {
    expect(clean('a\u202eb\u0000c')).toBe('a\ufffdb\ufffdc');
    expect(clean('x'.repeat(10_000)).length).toBe(4001);
    expect([clean(null), clean('  ')]).toEqual(['(no name)', '(no name)']);
  });

  it('are shortened only where they are signatures', () => {
    expect(short('void at::native::vec_kernel<4, at::add<float>()>(int, float*)')).toBe('vec_kernel');
    expect(short('(anonymous namespace)::spin_producer(unsigned int)')).toBe('spin_producer');
    expect(short('aten::conv2d')).toBe('aten::conv2d');
    expect(short('step 3 (warm-up)')).toBe('step 3 (warm-up)');
    expect(short('void <<<')).toBe('void <<<');
  });

  it('are cut to the width of a box', () => {
    const labels = new Labels((text) => text.length * 10);
    expect(labels.fit('abcdef', 60)).toBe('abcdef');
    expect(labels.fit('abcdef', 45)).toBe('abc…');
    expect(labels.fit('abcdef', 25)).toBe('');
    expect(labels.fit('ab', 20)).toBe('ab');
  });
});

describe('units', () => {
  it('write times in the fitting unit', () => {
    expect([0, 15, 1234, 56_780, 1.5e6, 2e9].map(duration)).toEqual(['0 ns', '15 ns', '1.234 µs', '56.78 µs', '1.500 ms', '2.000 s']);
    expect(moment(12_345_600, 100)).toBe('12.3456 ms');
    expect(moment(0, 1000)).toBe('0 µs');
    expect([bytes(512), bytes(1.5e6)]).toEqual(['512 B', '1.5 MB']);
  });

  it('set ticks at round times, no closer than asked', () => {
    const { step, times } = ticks(95, 1105, 1000, 90);
    expect([step, times]).toEqual([100, [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100]]);
    expect(ticks(0, 20, 1000, 80).step).toBe(2);
    expect(ticks(0, 20, 4000, 80).step).toBe(1);
  });
});
