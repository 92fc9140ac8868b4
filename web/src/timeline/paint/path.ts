// Paints the critical path: a bar under each of its parts, joined by lines.

import type { Track } from '../decode';
import type { PathSegment } from '../header';
import { rowTop } from '../layout';
import { kOnPath } from '../marks';
import { css } from '../rgb';
import { lowerBound } from '../row';
import { xOf, yOf, type Frame } from './frame';

const kJoined = 400;  // with more parts in view the lines between them would hide everything else
const kBar = 3;

interface Bar {
  left: number;
  right: number;
  y: number;
}

/** The row in which a part of the path lies: the one whose event there is on the path. */
function depthOnPath(frame: Frame, track: Track, start: number): number {
  const { flags } = frame.model.whole.timeline;
  const depth = track.rows.findIndex((row) => {
    const at = row.at(start);
    return at >= 0 && (flags[row.events[at]!]! & kOnPath) !== 0;
  });
  return Math.max(0, depth);
}

export class PathPainter {
  private starts: Float64Array | null = null;
  private readonly tracks = new Map<number, Track>();

  paint(frame: Frame): void {
    const bars = this.bars(frame);
    const { ctx, theme } = frame;
    ctx.fillStyle = css(theme.warm);
    for (const { left, right, y } of bars) ctx.fillRect(left, y, Math.max(1, right - left), kBar);
    if (bars.length > kJoined) return;
    for (let i = 1; i < bars.length; i++) {
      const before = bars[i - 1]!;
      const { left, y } = bars[i]!;
      ctx.fillRect(before.right, Math.min(before.y, y) + 1, 1, Math.abs(y - before.y) + 1);
      if (left > before.right) ctx.fillRect(before.right, y + 1, left - before.right, 1);
    }
  }

  /** The parts in view, and one on each side; those that begin in one pixel are taken together. */
  private bars(frame: Frame): Bar[] {
    const { model, span } = frame;
    const { path } = model.whole.timeline;
    const starts = this.prepare(frame, path);
    const perPixel = (span.to - span.from) / model.size.width;
    const bars: Bar[] = [];
    for (let i = Math.max(0, lowerBound(starts, span.from) - 1); i < path.length;) {
      bars.push(this.bar(frame, path[i]!));
      if (starts[i]! > span.to) break;
      i = Math.max(i + 1, lowerBound(starts, starts[i]! + perPixel, i));
    }
    return bars;
  }

  private bar(frame: Frame, { track: id, start_ns: start, end_ns: end }: PathSegment): Bar {
    const { model } = frame;
    const track = this.tracks.get(id)!;
    const top = rowTop(model.place, track, depthOnPath(frame, track, start));
    const { width } = model.size;
    return {
      left: Math.round(Math.min(width + 5, Math.max(-5, xOf(frame, start)))),
      right: Math.round(Math.min(width + 5, Math.max(-5, xOf(frame, end)))),
      y: yOf(frame, top) + model.place.metrics.row - 1 - kBar,
    };
  }

  private prepare(frame: Frame, path: PathSegment[]): Float64Array {
    if (this.starts) return this.starts;
    for (const track of frame.model.whole.timeline.tracks) this.tracks.set(track.id, track);
    return (this.starts = Float64Array.from(path, (segment) => segment.start_ns));
  }
}
