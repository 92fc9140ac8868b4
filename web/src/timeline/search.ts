// Search by name: which names match, which events have them, and the next one in time.

import { kNoTrack, type Timeline } from './decode';
import { lowerBound } from './row';
import { Marks } from './marks';
import type { Names } from './names';

export interface NameMatch {
  name: number;
  count: number;
  total: number;
}

export interface Found {
  query: string;
  /** Matching events in the order of their starts. */
  events: Uint32Array;
  starts: Float64Array;
  /** One entry per matching name, the longest total first. */
  names: NameMatch[];
  marks: Marks;
}

/** 1 for each name that contains every word of the query, whatever the case. */
export function matchNames(names: Names, query: string): Uint8Array {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const matches = new Uint8Array(names.count);
  if (words.length === 0) return matches;
  for (let i = 0; i < matches.length; i++) {
    const text = names.of(i).toLowerCase();
    matches[i] = words.every((word) => text.includes(word)) ? 1 : 0;
  }
  return matches;
}

function mergeRuns(starts: Float64Array, a: Uint32Array, b: Uint32Array): Uint32Array {
  const merged = new Uint32Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let k = 0; k < merged.length; k++) {
    const takeA = j >= b.length || (i < a.length && starts[a[i]!]! <= starts[b[j]!]!);
    merged[k] = takeA ? a[i++]! : b[j++]!;
  }
  return merged;
}

/** Merges lists that are each in the order of time: far cheaper than sorting a million events. */
function inTime(starts: Float64Array, runs: Uint32Array[]): Uint32Array {
  if (runs.length === 0) return new Uint32Array(0);
  while (runs.length > 1) {
    const halved: Uint32Array[] = [];
    for (let i = 0; i < runs.length; i += 2) {
      halved.push(i + 1 < runs.length ? mergeRuns(starts, runs[i]!, runs[i + 1]!) : runs[i]!);
    }
    runs = halved;
  }
  return runs[0]!;
}

function runsOf(timeline: Timeline, mask: Uint8Array): Uint32Array[] {
  const runs: Uint32Array[] = [];
  for (let begin = 0, i = 0; i < timeline.count; begin = i) {
    const track = timeline.trackOf[begin]!;
    let size = 0;
    for (; i < timeline.count && timeline.trackOf[i]! === track; i++) size += mask[i]!;
    if (size === 0) continue;
    const run = new Uint32Array(size);
    for (let k = begin, at = 0; k < i; k++) if (mask[k]!) run[at++] = k;
    runs.push(run);
  }
  return runs;
}

/** Finds all events whose name is marked in `matches`. */
export function findEvents(timeline: Timeline, matches: Uint8Array, query: string): Found {
  const mask = new Uint8Array(timeline.count);
  const counts = new Uint32Array(matches.length);
  const totals = new Float64Array(matches.length);
  for (let i = 0; i < timeline.count; i++) {
    const name = timeline.names[i]!;
    if (!matches[name]! || timeline.trackOf[i]! === kNoTrack) continue;
    mask[i] = 1;
    counts[name]!++;
    totals[name]! += timeline.durations[i]!;
  }
  const events = inTime(timeline.starts, runsOf(timeline, mask));
  const names: NameMatch[] = [];
  for (let name = 0; name < counts.length; name++) {
    if (counts[name]!) names.push({ name, count: counts[name]!, total: totals[name]! });
  }
  names.sort((a, b) => b.total - a.total);
  const starts = Float64Array.from(events, (event) => timeline.starts[event]!);
  return { query, events, starts, names, marks: new Marks(mask) };
}

/**
 * Position in `found.events` of the match after (step 1) or before (step -1) an event, wrapping around.
 * Without an event (-1) it is the first match at or after `time`, or the last before it.
 */
export function nextMatch(found: Found, timeline: Timeline, event: number, time: number, step: 1 | -1): number {
  const count = found.events.length;
  if (count === 0) return -1;
  const start = event >= 0 ? timeline.starts[event]! : time;
  let at = lowerBound(found.starts, start);
  if (event >= 0) {
    for (let i = at; i < count && found.starts[i]! === start; i++) {
      if (found.events[i]! === event) return (i + step + count) % count;
    }
  }
  if (step < 0) at--;
  return (at + count) % count;
}
