// The panel's facts about one event: its relatives and its namesakes. Sums for a drawing, no analysis.

import { kMerged, kNoTrack, type Timeline, type Track } from './decode';
import type { Span } from './header';

export interface Namesakes {
  count: number;
  total: number;
}

export interface Facts {
  track: Track;
  start: number;
  duration: number;
  /** Duration without what is nested directly in the event; null for tracks without nesting. */
  self: number | null;
  /** The event that launched it; -1 when the trace does not say. */
  launcher: number;
  /** The first events it launched. */
  launched: number[];
  launchedCount: number;
  merged: number;
  detail: Record<string, unknown> | null;
}

const kMostLaunched = 32;

export function selfTime(timeline: Timeline, event: number): number | null {
  const track = timeline.tracks[timeline.trackOf[event]!]!;
  // An event that overlaps on a stream runs next to it, not inside it.
  if (track.kind === 'kernels' || track.rows.length < 2) return null;
  const inner = track.rows[timeline.depths[event]! + 1]!;
  const duration = timeline.durations[event]!;
  if (!inner) return duration;
  const from = timeline.starts[event]!;
  const to = from + duration;
  const [begin, end] = inner.range(from, to);
  if (begin === end) return duration;
  const before = Math.max(0, from - inner.starts[begin]!);
  const after = Math.max(0, inner.starts[end - 1]! + inner.duration(end - 1) - to);
  const nested = inner.busy[end]! - inner.busy[begin]! - before - after;
  return Math.max(0, duration - nested);
}

function launchedBy(timeline: Timeline, event: number): { first: number[]; count: number } {
  const first: number[] = [];
  let count = 0;
  for (let i = 0; i < timeline.count; i++) {
    if (timeline.links[i]! !== event || timeline.trackOf[i]! === kNoTrack) continue;
    if (first.length < kMostLaunched) first.push(i);
    count++;
  }
  return { first, count };
}

function detailOf(timeline: Timeline, event: number): Record<string, unknown> | null {
  const index = timeline.details[event]!;
  const detail = index > 0 ? timeline.header.details?.[index - 1]! : null;
  return detail && typeof detail === 'object' ? detail : null;
}

export function isEvent(timeline: Timeline, event: number | undefined): event is number {
  return event !== undefined && Number.isSafeInteger(event) && event >= 0 && event < timeline.count
    && timeline.trackOf[event]! !== kNoTrack;
}

export function factsOf(timeline: Timeline, event: number): Facts {
  const launched = launchedBy(timeline, event);
  return {
    track: timeline.tracks[timeline.trackOf[event]!]!,
    start: timeline.starts[event]!,
    duration: timeline.durations[event]!,
    self: selfTime(timeline, event),
    launcher: timeline.links[event]!,
    launched: launched.first,
    launchedCount: launched.count,
    merged: timeline.flags[event]! & kMerged ? timeline.merged[event]! : 0,
    detail: detailOf(timeline, event),
  };
}

/** Events of the same name in a window (those that overlap it), with their whole durations. */
export function namesakes(timeline: Timeline, name: number, span: Span): Namesakes {
  const sum = { count: 0, total: 0 };
  for (const track of timeline.tracks) {
    for (const row of track.rows) {
      const [begin, end] = row.range(span.from, span.to);
      for (let i = begin; i < end; i++) {
        if (timeline.names[row.events[i]!]! !== name) continue;
        sum.count++;
        sum.total += row.duration(i);
      }
    }
  }
  return sum;
}

/** The event after or before another in its row; -1 at the end. */
export function neighbour(timeline: Timeline, event: number, step: 1 | -1): number {
  const row = timeline.tracks[timeline.trackOf[event]!]!.rows[timeline.depths[event]!]!;
  const at = row.events.indexOf(event) + step;
  return at >= 0 && at < row.count ? row.events[at]! : -1;
}
