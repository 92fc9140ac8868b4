// Rows, counters, level of detail: searching and painting, compared with doing it the slow way.

import { describe, expect, it } from 'vitest';
import { Counter, steps } from '../../src/timeline/counters';
import { decode } from '../../src/timeline/decode';
import { addDensity, paintRow, type Strip } from '../../src/timeline/lod';
import { Marks } from '../../src/timeline/marks';
import { gallop, lowerBound } from '../../src/timeline/row';
import { build, type TestEvent } from './document';

function random(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

function manyEvents(count: number): TestEvent[] {
  const next = random(7);
  let time = 0;
  return Array.from({ length: count }, (_, i) => {
    time += Math.floor(next() * 20);
    const duration = 1 + Math.floor(next() * (i % 50 === 0 ? 4000 : 30));
    time += duration;
    return { start: time - duration, duration, name: `k${i % 9}` };
  });
}

async function manyRow(count = 1200) {
  const events = manyEvents(count);
  const end = events[count - 1]!.start + events[count - 1]!.duration;
  const timeline = await decode(build([{ events }], end));
  return { events, end, timeline, row: timeline.tracks[0]!.rows[0]! };
}

const kFill = Uint32Array.from({ length: 9 }, (_, i) => 0xff000000 + i + 1);
const blank = (width: number): Strip => ({ pixels: new Uint32Array(width + 20), offset: 10, width });

describe('binary search', () => {
  it('gallops to the same place as a plain search', () => {
    const values = Float64Array.from([1, 2, 2, 2, 5, 9, 9, 12]);
    for (let wanted = 0; wanted < 14; wanted++) expect(gallop(values, wanted, 0)).toBe(lowerBound(values, wanted));
  });
});

describe('Row', () => {
  it('finds what a window shows', async () => {
    const { events, end, row } = await manyRow();
    const next = random(3);
    for (let i = 0; i < 200; i++) {
      const from = next() * end;
      const to = from + next() * 5000;
      const expected = events.flatMap((e, k) => (e.start < to && e.start + e.duration > from ? [k] : []));
      const [begin, stop] = row.range(from, to);
      expect([begin, stop - begin]).toEqual([expected[0] ?? begin, expected.length]);
    }
  });

  it('finds the event at a time, bounds included on the left only', async () => {
    const { events, row } = await manyRow(100);
    for (const [k, event] of events.entries()) {
      expect(row.at(event.start)).toBe(k);
      expect(row.at(event.start + event.duration)).not.toBe(k);
    }
  });

  it('finds the longest of a stretch', async () => {
    const { events, row } = await manyRow();
    const next = random(5);
    for (let i = 0; i < 300; i++) {
      const begin = Math.floor(next() * (row.count - 1));
      const end = begin + 1 + Math.floor(next() * (row.count - begin - 1));
      const longest = Math.max(...events.slice(begin, end).map((event) => event.duration));
      expect(row.duration(row.longest(begin, end))).toBe(longest);
    }
  });

  it('survives events that overlap in one row', async () => {
    const timeline = await decode(build([{ events: [
      { start: 0, duration: 100, name: 'long' }, { start: 10, duration: 5, name: 'inside' }, { start: 50, duration: 5, name: 'late' },
    ] }]));
    const row = timeline.tracks[0]!.rows[0]!;
    expect(row.at(12)).toBe(1);
    expect(row.at(30)).toBe(0);
    expect(row.at(99)).toBe(0);
    expect(row.at(100)).toBe(-1);
  });
});

describe('paintRow', () => {
  it('paints every pixel with work and none without, at any zoom', async () => {
    const { events, end, timeline, row } = await manyRow();
    for (const [from, to, width] of [[0, end, 300], [0, end, 3000], [end / 3, end / 3 + 900, 450], [-50, end + 50, 64]] as [number, number, number][]) {
      const strip = blank(width);
      paintRow(strip, timeline, row, { from, to }, kFill, null);
      const step = (to - from) / width;
      const started = new Set(events.map((event) => Math.floor((event.start - from) / step)));
      for (let x = 0; x < width; x++) {
        const low = from + (x - 1) * step, high = from + (x + 2) * step;
        const near = events.some((e) => e.start < high && e.start + e.duration > low);
        if (started.has(x)) expect(strip.pixels[10 + x]!, `pixel ${x}`).not.toBe(0);
        if (!near) expect(strip.pixels[10 + x]!, `pixel ${x}`).toBe(0);
      }
      expect(strip.pixels.slice(0, 10).some(Boolean) || strip.pixels.slice(10 + width).some(Boolean)).toBe(false);
    }
  });

  it('gives a shared pixel the colour of its longest event and an opacity by its work', async () => {
    const timeline = await decode(build([{ events: [
      { start: 0, duration: 1, name: 'a' }, { start: 2, duration: 6, name: 'b' }, { start: 8, duration: 1, name: 'c' },
    ] }], 100));
    const strip = blank(10);
    paintRow(strip, timeline, timeline.tracks[0]!.rows[0]!, { from: 0, to: 100 }, kFill, null);
    expect(strip.pixels[10]! & 0xff).toBe(2);
    expect(strip.pixels[10]! >>> 24).toBe(Math.round(90 + 165 * 0.8));
  });

  it('dims what is not marked, and no pixel that holds a marked event', async () => {
    const timeline = await decode(build([{ events: Array.from({ length: 100 }, (_, i) => ({ start: i, duration: 1, name: 'a' })) }], 100));
    const row = timeline.tracks[0]!.rows[0]!;
    const mask = new Uint8Array(100);
    mask[37] = 1;
    const strip = blank(10);
    paintRow(strip, timeline, row, { from: 0, to: 100 }, kFill, new Marks(mask));
    const alphas = [...strip.pixels.slice(10, 20)].map((pixel) => pixel >>> 24);
    expect(alphas.indexOf(255)).toBe(3);
    expect(alphas.filter((alpha) => alpha < 60).length).toBe(9);
  });

  it('draws merged events with stripes', async () => {
    const timeline = await decode(build([{ events: [{ start: 0, duration: 100, name: 'a', flags: 2, merged: 9 }] }], 100));
    const strip = blank(20);
    paintRow(strip, timeline, timeline.tracks[0]!.rows[0]!, { from: 0, to: 100 }, kFill, null);
    expect(strip.pixels[10 + 3]! >>> 24).toBeLessThan(strip.pixels[10 + 2]! >>> 24);
  });
});

describe('addDensity', () => {
  it('adds up to all the work', async () => {
    const { events, end, row } = await manyRow();
    for (const buckets of [7, 100, 4000]) {
      const sums = new Float64Array(buckets);
      addDensity(sums, row, { from: 0, to: end });
      const work = events.reduce((sum, event) => sum + event.duration, 0);
      const seen = sums.reduce((a, b) => a + b, 0) * (end / buckets);
      expect(Math.abs(seen - work) / work).toBeLessThan(1e-9);
      expect(Math.max(...sums)).toBeLessThanOrEqual(1 + 1e-9);
    }
  });
});

describe('Counter', () => {
  it('finds extents of any stretch', () => {
    const next = random(11);
    const values = Float64Array.from({ length: 5000 }, () => next() * 100 - 50);
    const counter = new Counter(0, 'W', values.map((_, i) => i), values);
    for (let i = 0; i < 300; i++) {
      const begin = Math.floor(next() * 4999);
      const end = begin + 1 + Math.floor(next() * (5000 - begin));
      const part = values.slice(begin, end);
      expect(counter.extent(begin, end)).toEqual([Math.min(...part), Math.max(...part)]);
    }
    expect([counter.min, counter.max]).toEqual([Math.min(...values), Math.max(...values)]);
  });

  it('is drawn with its range per pixel, each pixel starting with the value before it', () => {
    const counter = new Counter(0, 'W', Float64Array.from([10, 12, 14, 30]), Float64Array.from([1, 5, 3, 0]));
    const { low, high } = steps(counter, { from: 0, to: 40 }, 4);
    expect([[...low], [...high]]).toEqual([[Number.NaN, 1, 3, 0], [Number.NaN, 5, 3, 3]]);
  });

  it('holds each value until the next', () => {
    const counter = new Counter(0, 'W', Float64Array.from([10, 20]), Float64Array.from([1, 2]));
    expect([5, 10, 15, 20, 25].map((time) => counter.indexAt(time))).toEqual([-1, 0, 0, 1, 1]);
  });
});
