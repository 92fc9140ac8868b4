// The item under a point of the plot.

import type { Timeline, Track } from './decode';
import type { Span } from './header';
import { tracksBetween, type Layout, type PlacedTrack } from './layout';
import type { Row } from './row';

export interface Hit {
  track: Track;
  /** Index of the event; -1 beside events. */
  event: number;
  /** Index of the counter's sample; -1 for other tracks. */
  sample: number;
}

const kReach = 3;  // pixels next to a thin event that still count as on it

function rowAt(track: Track, placed: PlacedTrack, y: number, height: number): Row | undefined {
  const depth = Math.floor((y - placed.plotY) / height);
  return depth >= 0 && depth < placed.rows ? track.rows[depth]! : undefined;
}

/** The event at a time, or the longest of those within a few pixels. -1 without one. */
export function eventNear(row: Row, time: number, perPixel: number): number {
  const exact = row.at(time);
  if (exact >= 0 && row.duration(exact) > perPixel) return row.events[exact]!;
  const [begin, end] = row.range(time - kReach * perPixel, time + kReach * perPixel);
  return begin < end ? row.events[row.longest(begin, end)]! : -1;
}

export function hitTest(timeline: Timeline, place: Layout, span: Span, width: number, x: number, y: number): Hit | null {
  const placed = tracksBetween(place, y, y + 1)[0]!;
  if (!placed || x < 0 || x >= width) return null;
  const track = timeline.tracks.find((candidate) => candidate.id === placed.id);
  if (!track) return null;
  const perPixel = (span.to - span.from) / width;
  const time = span.from + x * perPixel;
  if (track.counter) return { track, event: -1, sample: track.counter.indexAt(time) };
  const row = rowAt(track, placed, y, place.metrics.row);
  return { track, event: row ? eventNear(row, time, perPixel) : -1, sample: -1 };
}
