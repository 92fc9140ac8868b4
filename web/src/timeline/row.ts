// One row of boxes: the events of one track at one depth, sorted by start, searchable in O(log n).

/** First index whose value is >= wanted. */
export function lowerBound(values: Float64Array, wanted: number, low = 0, high = values.length): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** As lowerBound, but starts near `low` and doubles its stride: cheap when the answer is close. */
export function gallop(values: Float64Array, wanted: number, low: number): number {
  let stride = 1;
  let high = low;
  while (high < values.length && values[high]! < wanted) {
    low = high + 1;
    high += stride;
    stride *= 2;
  }
  return lowerBound(values, wanted, low, Math.min(high, values.length));
}

export class Row {
  readonly count: number;
  /** busy[i] is the sum of the durations before event i, so a stretch's sum is one subtraction. */
  readonly busy: Float64Array;
  /** The latest end of events 0..i: sorted even when events of a damaged trace overlap. */
  readonly reach: Float64Array;
  private tree: Uint32Array | null = null;

  constructor(readonly events: Uint32Array, readonly starts: Float64Array, durations: Float64Array) {
    this.count = events.length;
    this.busy = new Float64Array(this.count + 1);
    this.reach = new Float64Array(this.count);
    let latest = -Infinity;
    for (let i = 0; i < this.count; i++) {
      const duration = durations[events[i]!]!;
      this.busy[i + 1] = this.busy[i]! + duration;
      latest = Math.max(latest, starts[i]! + duration);
      this.reach[i] = latest;
    }
  }

  duration(i: number): number {
    return this.busy[i + 1]! - this.busy[i]!;
  }

  /** First event that ends after `time`. */
  firstAfter(time: number): number {
    const i = lowerBound(this.reach, time);
    return i < this.count && this.reach[i]! === time ? gallop(this.reach, nextUp(time), i) : i;
  }

  /** The events that are seen in a span: [begin, end). Overlapping rows may include a few that ended before. */
  range(from: number, to: number): [number, number] {
    const begin = this.firstAfter(from);
    return [begin, Math.max(begin, lowerBound(this.starts, to))];
  }

  /** The event drawn at `time`: the last that started and has not ended; -1 without one. */
  at(time: number): number {
    const first = this.firstAfter(time);
    for (let i = gallop(this.starts, nextUp(time), first) - 1; i >= first; i--) {
      if (this.starts[i]! + this.duration(i) > time) return i;
    }
    return -1;
  }

  /** Index of the longest event in [begin, end), which must not be empty. */
  longest(begin: number, end: number): number {
    if (end - begin < 12) return this.scanLongest(begin, end);
    this.tree ??= this.buildTree();
    const tree = this.tree;
    let best = begin;
    for (let l = begin + this.count, r = end + this.count; l < r; l >>= 1, r >>= 1) {
      if (l & 1) best = this.longer(best, tree[l++]!);
      if (r & 1) best = this.longer(best, tree[--r]!);
    }
    return best;
  }

  private scanLongest(begin: number, end: number): number {
    let best = begin;
    for (let i = begin + 1; i < end; i++) best = this.longer(best, i);
    return best;
  }

  private longer(a: number, b: number): number {
    const difference = this.duration(b) - this.duration(a);
    return difference > 0 || (difference === 0 && b < a) ? b : a;
  }

  private buildTree(): Uint32Array {
    const tree = new Uint32Array(2 * this.count);
    for (let i = 0; i < this.count; i++) tree[this.count + i] = i;
    for (let i = this.count - 1; i > 0; i--) tree[i] = this.longer(tree[2 * i]!, tree[2 * i + 1]!);
    return tree;
  }
}

function nextUp(time: number): number {
  return time + Math.max(Number.MIN_VALUE, Math.abs(time) * Number.EPSILON);
}
