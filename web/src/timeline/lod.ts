// Level of detail: paints one row of events into one line of pixels, in O(pixels x log n) whatever n is.
// An event wider than a pixel becomes a run of pixels; what shares a pixel becomes one, in the colour of the
// longest event, as opaque as the pixel is busy. Nothing that exists is left unpainted.

import { kMerged, type Timeline } from './decode';
import type { Span } from './header';
import type { Marks } from './marks';
import { faded } from './rgb';
import { gallop, type Row } from './row';

const kFaintest = 90;   // opacity (of 255) of a pixel with hardly any work
const kDimmed = 0.2;    // what is not marked keeps this share of its opacity
const kStripe = 4;      // every fourth pixel of a merged event is lighter
const kSeam = 3;        // from this width on a box ends with a lighter pixel, so that neighbours can be told apart

export interface Strip {
  /** `width` pixels, written from `offset` on. */
  pixels: Uint32Array;
  offset: number;
  width: number;
  /** Told of each box at least `labelled` pixels wide that is not dimmed, for its text. */
  labelled?: number;
  onBox?: (event: number, from: number, to: number) => void;
}

function paintBox(strip: Strip, from: number, to: number, color: number, alpha: number, merged: boolean): void {
  const { pixels, offset } = strip;
  const solid = faded(color, alpha);
  pixels.fill(solid, offset + from, offset + to);
  if (merged) {
    const light = faded(color, alpha >> 1);
    for (let x = from; x < to; x++) if ((x - from) % kStripe === kStripe - 1) pixels[offset + x] = light;
  }
  if (to - from >= kSeam) pixels[offset + to - 1] = faded(color, alpha >> 2);
}

/** Paints the events of `row` seen in `span`. Unmarked events are dimmed when there are marks. */
export function paintRow(strip: Strip, timeline: Timeline, row: Row, span: Span, fill: Uint32Array, marks: Marks | null): void {
  const { width } = strip;
  const step = (span.to - span.from) / width;
  const sums = marks?.sumsOf(row) ?? null;
  const strength = (begin: number, end: number) => (!sums || sums[end]! > sums[begin]! ? 1 : kDimmed);
  for (let i = row.firstAfter(span.from); i < row.count;) {
    const start = row.starts[i]!;
    if (start >= span.to) return;
    const long = row.duration(i);
    const x = Math.max(0, Math.floor((start - span.from) / step));
    if (long >= step) {
      const end = Math.min(width, Math.max(x + 1, Math.round((start + long - span.from) / step)));
      const event = row.events[i]!;
      const alpha = Math.round(255 * strength(i, i + 1));
      paintBox(strip, x, end, fill[timeline.names[event]!]!, alpha, (timeline.flags[event]! & kMerged) !== 0);
      if (end - x >= (strip.labelled ?? Infinity) && alpha === 255) strip.onBox?.(event, x, end);
      i++;
      continue;
    }
    let next = Math.max(i + 1, gallop(row.starts, span.from + (x + 1) * step, i));
    if (next - i > 1 && row.duration(next - 1) >= step) next--;
    const busy = Math.min(1, (row.busy[next]! - row.busy[i]!) / step);
    const alpha = Math.round((kFaintest + (255 - kFaintest) * busy) * strength(i, next));
    const event = row.events[row.longest(i, next)]!;
    if (x < width) strip.pixels[strip.offset + x] = faded(fill[timeline.names[event]!]!, alpha);
    i = next;
  }
}

/** Share of each of `buckets` equal parts of a span in which a row is busy, added to `sums`. */
export function addDensity(sums: Float64Array, row: Row, span: Span): void {
  const step = (span.to - span.from) / sums.length;
  for (let i = row.firstAfter(span.from); i < row.count && row.starts[i]! < span.to;) {
    const start = row.starts[i]!;
    const end = start + row.duration(i);
    const first = Math.max(0, Math.floor((start - span.from) / step));
    const edge = span.from + (first + 1) * step;
    if (end <= edge) {
      let next = Math.max(i + 1, gallop(row.starts, edge, i));
      if (next - i > 1 && row.starts[next - 1]! + row.duration(next - 1) > edge) next--;
      if (first < sums.length) sums[first]! += (row.busy[next]! - row.busy[i]!) / step;
      i = next;
      continue;
    }
    const last = Math.min(sums.length - 1, Math.floor((end - span.from) / step));
    for (let k = first; k <= last; k++) {
      const low = Math.max(start, span.from + k * step);
      const high = Math.min(end, span.from + (k + 1) * step);
      sums[k]! += Math.max(0, high - low) / step;
    }
    i++;
  }
}
