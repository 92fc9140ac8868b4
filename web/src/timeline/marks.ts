// Which events stand out (a search, the critical path): a mask, and per row counts that answer
// "any of these thousand?" with one subtraction.

import type { Timeline } from './decode';
import type { Row } from './row';

export const kOnPath = 1;

export class Marks {
  private readonly sums = new Map<Row, Uint32Array>();

  constructor(readonly mask: Uint8Array) {}

  /** Number of marked events in [begin, end) of a row. */
  count(row: Row, begin: number, end: number): number {
    const sums = this.sumsOf(row);
    return sums[end]! - sums[begin]!;
  }

  sumsOf(row: Row): Uint32Array {
    const known = this.sums.get(row);
    if (known) return known;
    const sums = new Uint32Array(row.count + 1);
    for (let i = 0; i < row.count; i++) sums[i + 1] = sums[i]! + this.mask[row.events[i]!]!;
    this.sums.set(row, sums);
    return sums;
  }
}

export function pathMarks(timeline: Timeline): Marks {
  const mask = new Uint8Array(timeline.count);
  for (let i = 0; i < mask.length; i++) mask[i] = timeline.flags[i]! & kOnPath ? 1 : 0;
  return new Marks(mask);
}
