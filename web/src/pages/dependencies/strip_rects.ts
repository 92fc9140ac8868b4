// The part of a path in a window, as rectangles on lanes: a part that is narrower than a pixel joins its
// neighbour.
import type { PathModel, Segment } from './path_model';

export interface Window {
  from: number;
  to: number;
}

export interface Rect {
  lane: number;
  left: number;
  right: number;
  /// True if some of it belongs to the function that is looked for.
  lit: boolean;
}

/// Index of the first segment that ends after the time. Segments of a path follow each other.
export function firstAfter(segments: Segment[], time: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle]!.end <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function rectsOf({ segments, kinds }: PathModel, { from, to }: Window, width: number, wanted: number | null): Rect[] {
  const scale = width / (to - from);
  const lanes = new Map(kinds.map((kind, i) => [kind, i]));
  const last: (Rect | undefined)[] = [];
  const rects: Rect[] = [];
  for (let i = firstAfter(segments, from); i < segments.length && segments[i]!.start < to; ++i) {
    const segment = segments[i]!;
    const lane = lanes.get(segment.kind)!;
    const left = Math.max(0, (segment.start - from) * scale);
    const right = Math.min(width, (segment.end - from) * scale);
    const lit = wanted === null || segment.function === wanted;
    const before = last[lane];
    if (before && right - left < 1 && left - before.right < 1 && (before.lit || !lit)) {
      before.right = Math.max(before.right, right);
      continue;
    }
    rects.push((last[lane] = { lane, left, right, lit }));
  }
  return rects;
}

/// The segment at a place: of the lane when one is near, else whichever is there.
export function hit({ segments, kinds }: PathModel, { from, to }: Window, width: number, x: number, lane: number): Segment | null {
  const perPixel = (to - from) / width;
  const time = from + x * perPixel;
  const near = 4 * perPixel;
  const distance = ({ start, end }: Segment) => Math.max(start - time, time - end, 0);
  let best: Segment | null = null;
  for (let i = firstAfter(segments, time - near); i < segments.length && segments[i]!.start <= time + near; ++i) {
    const segment = segments[i]!;
    if (segment.kind === kinds[lane] && (!best || distance(segment) < distance(best))) best = segment;
  }
  const at = segments[firstAfter(segments, time)];
  return best ?? (at && at.start <= time ? at : null);
}

/// Times of round numbers, at most `most` of them.
export function ticksOf({ from, to }: Window, most: number): number[] {
  const rough = (to - from) / Math.max(1, most);
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * size).find((one) => one >= rough) ?? rough;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && ticks.length < 50; at += step) ticks.push(at);
  return ticks;
}
