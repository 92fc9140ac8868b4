// One counter: its samples as steps, and the smallest and largest value of any stretch in O(log n).

import type { Span } from './header';
import { gallop, lowerBound } from './row';

const kFan = 16;

interface Level {
  low: Float64Array;
  high: Float64Array;
}

function coarser(level: Level): Level {
  const count = Math.ceil(level.low.length / kFan);
  const low = new Float64Array(count).fill(Infinity);
  const high = new Float64Array(count).fill(-Infinity);
  for (let i = 0; i < level.low.length; i++) {
    const block = (i / kFan) | 0;
    low[block] = Math.min(low[block]!, level.low[i]!);
    high[block] = Math.max(high[block]!, level.high[i]!);
  }
  return { low, high };
}

export class Counter {
  readonly min: number;
  readonly max: number;
  private readonly levels: Level[];

  constructor(readonly track: number, readonly unit: string,
              readonly times: Float64Array, readonly values: Float64Array) {
    this.levels = [{ low: values, high: values }];
    for (let top = this.levels[0]!; top.low.length > kFan;) {
      top = coarser(top);
      this.levels.push(top);
    }
    const [min, max] = values.length ? this.extent(0, values.length) : [0, 0];
    this.min = min;
    this.max = max;
  }

  /** Index of the sample that holds at `time`; -1 before the first. */
  indexAt(time: number): number {
    const i = lowerBound(this.times, time);
    return i < this.times.length && this.times[i]! === time ? i : i - 1;
  }

  /** Smallest and largest value of samples [begin, end), which must not be empty. */
  extent(begin: number, end: number): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    let level = 0;
    while (begin < end) {
      const { low: lows, high: highs } = this.levels[level]!;
      const last = level === this.levels.length - 1;
      while (begin < end && (last || begin % kFan !== 0)) {
        low = Math.min(low, lows[begin]!);
        high = Math.max(high, highs[begin++]!);
      }
      while (end > begin && end % kFan !== 0) {
        low = Math.min(low, lows[--end]!);
        high = Math.max(high, highs[end]!);
      }
      begin /= kFan;
      end /= kFan;
      level++;
    }
    return [low, high];
  }
}

export interface Steps {
  low: Float64Array;
  high: Float64Array;
}

/** Smallest and largest value per pixel; NaN before the first sample. Each pixel starts with the value before it. */
export function steps(counter: Counter, span: Span, width: number): Steps {
  const low = new Float64Array(width).fill(Number.NaN);
  const high = new Float64Array(width).fill(Number.NaN);
  const step = (span.to - span.from) / width;
  let at = counter.indexAt(span.from) + 1;
  for (let x = 0; x < width; x++) {
    const next = gallop(counter.times, span.from + (x + 1) * step, at);
    const begin = Math.max(0, at - 1);
    if (next > begin) [low[x], high[x]] = counter.extent(begin, next);
    at = next;
  }
  return { low, high };
}
