// Turns a timeline document into what the page draws from: absolute times, rows, counters.
// Damaged columns throw one sentence; a damaged event is left out and counted.

import { ColumnSet, readColumns, type Column } from './columns';
import { Counter } from './counters';
import type { CounterHeader, PathSegment, TimelineDocument, TimelineHeader, TrackHeader, TrackKind } from './header';
import { Row } from './row';

export const kMerged = 2;
const kDeepest = 512;
const kHigh = 2 ** 32;
const kPause = 1 << 18;  // events between two pauses that let the page breathe

export interface Track {
  id: number;
  group: string;
  name: string;
  kind: TrackKind;
  rows: Row[];
  counter: Counter | null;
}

export interface Timeline {
  header: TimelineHeader;
  count: number;
  starts: Float64Array;
  durations: Float64Array;
  names: Column;
  depths: Column;
  details: Column;
  links: Column;
  flags: Column;
  merged: Column;
  /** Position of each event's track in `tracks`; kNoTrack for events that were left out. */
  trackOf: Uint16Array;
  tracks: Track[];
  path: PathSegment[];
  /** What was left out, and why: one sentence each. */
  problems: string[];
}

export const kNoTrack = 0xffff;

const kClaimed = 'events claimed by two tracks (the first keeps them)';

class Losses {
  leftOut = 0;
  private readonly counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  sentences(): string[] {
    return [...this.counts].map(([what, count]) => `${count.toLocaleString('en')} ${what}`);
  }
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

function clampedRange(first: number, count: number, total: number, losses: Losses, what: string): [number, number] {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || first < 0 || count < 0) {
    losses.add(`${what} without a valid first and count`);
    return [0, 0];
  }
  const end = Math.min(first + count, total);
  if (first + count > total) losses.add(`events or samples named by a header but not in the data`, first + count - Math.max(first, end));
  return [first, Math.max(first, end)];
}

function readEvents(header: TimelineHeader, columns: Map<string, Column>): Timeline {
  const set = new ColumnSet(columns, 'start_lo');
  const n = set.count;
  const zero = new Uint8Array(n);
  for (const name of ['start_lo', 'start_hi', 'duration_lo', 'duration_hi']) set.required(name);
  return {
    header, count: n,
    starts: new Float64Array(n), durations: new Float64Array(n),
    names: set.required('name'), depths: set.optional('depth', zero), details: set.optional('detail', zero),
    links: Int32Array.from(set.optional('link', new Int32Array(n).fill(-1))),
    flags: set.optional('flags', zero), merged: set.optional('merged', zero),
    trackOf: new Uint16Array(n).fill(kNoTrack), tracks: [], path: [], problems: [],
  };
}

/** Why an event cannot be drawn; null for a good one. */
function fault(t: Timeline, i: number): string | null {
  if (t.names[i]! >= t.header.strings.length) return 'events left out: their name does not exist';
  if (t.depths[i]! >= kDeepest) return `events left out: nested deeper than ${kDeepest}`;
  if (!(t.starts[i]! + t.durations[i]! <= Number.MAX_SAFE_INTEGER)) return 'events left out: their time is out of range';
  return null;
}

async function readTrack(t: Timeline, columns: Map<string, Column>, head: TrackHeader, losses: Losses): Promise<Track> {
  const track: Track = {
    id: head.id, group: String(head.group ?? ''), name: String(head.name ?? ''), kind: head.kind, rows: [], counter: null,
  };
  const [first, end] = clampedRange(head.first, head.count, t.count, losses, 'tracks');
  const lo = columns.get('start_lo')!, hi = columns.get('start_hi')!;
  const durationLo = columns.get('duration_lo')!, durationHi = columns.get('duration_hi')!;
  const sizes: number[] = [];
  const position = t.tracks.length;
  let time = 0;
  for (let i = first; i < end; i++) {
    if ((i - first) % kPause === kPause - 1) await pause();
    time += hi[i]! * kHigh + lo[i]!;
    if (t.trackOf[i]! !== kNoTrack) {
      losses.add(kClaimed);
      continue;
    }
    t.starts[i] = time;
    t.durations[i] = durationHi[i]! * kHigh + durationLo[i]!;
    const why = fault(t, i);
    if (why) {
      losses.add(why);
      losses.leftOut++;
      continue;
    }
    t.trackOf[i] = position;
    const depth = t.depths[i]!;
    while (sizes.length <= depth) sizes.push(0);
    sizes[depth]!++;
  }
  track.rows = splitRows(t, first, end, position, sizes);
  return track;
}

function splitRows(t: Timeline, first: number, end: number, position: number, sizes: number[]): Row[] {
  const events = sizes.map((size) => new Uint32Array(size));
  const starts = sizes.map((size) => new Float64Array(size));
  const fill = sizes.map(() => 0);
  for (let i = first; i < end; i++) {
    if (t.trackOf[i]! !== position) continue;
    const depth = t.depths[i]!;
    const at = fill[depth]!++;
    events[depth]![at] = i;
    starts[depth]![at] = t.starts[i]!;
  }
  return events.map((list, depth) => new Row(list, starts[depth]!, t.durations));
}

function readLinks(t: Timeline, losses: Losses): void {
  for (let i = 0; i < t.count; i++) {
    if (t.links[i]! < 0) continue;
    if (t.links[i]! < t.count && t.links[i]! !== i && t.trackOf[t.links[i]!]! !== kNoTrack) continue;
    t.links[i] = -1;
    losses.add('links to events that do not exist');
  }
}

function readCounter(columns: Map<string, Column>, head: CounterHeader, losses: Losses): Counter {
  const set = new ColumnSet(columns, 'time_lo');
  const lo = set.required('time_lo'), hi = set.required('time_hi'), value = set.required('value');
  const [first, end] = clampedRange(head.first, head.count, set.count, losses, 'counters');
  const times = new Float64Array(end - first);
  const values = new Float64Array(end - first);
  let kept = 0;
  let time = 0;
  for (let i = first; i < end; i++) {
    time += hi[i]! * kHigh + lo[i]!;
    if (!Number.isFinite(value[i]!) || time > Number.MAX_SAFE_INTEGER) {
      losses.add('counter samples left out: not a number');
      continue;
    }
    times[kept] = time;
    values[kept++] = value[i]!;
  }
  return new Counter(head.track, String(head.unit ?? ''), times.slice(0, kept), values.slice(0, kept));
}

function readPath(t: Timeline, losses: Losses): PathSegment[] {
  const ids = new Set(t.tracks.map((track) => track.id));
  const good = (t.header.path ?? []).filter((s) =>
    ids.has(s.track) && Number.isFinite(s.start_ns) && Number.isFinite(s.end_ns) && s.end_ns >= s.start_ns);
  const lost = (t.header.path ?? []).length - good.length;
  if (lost) losses.add('parts of the critical path without a track or a time', lost);
  return good.sort((a, b) => a.start_ns - b.start_ns);
}

/** Decodes a document; pauses now and then so that the page stays responsive. */
export async function decode({ header, blob }: TimelineDocument): Promise<Timeline> {
  if (!header || !Array.isArray(header.strings) || !Array.isArray(header.tracks)) {
    throw new Error('The timeline has no valid header.');
  }
  if (!(header.duration_ns >= 0)) throw new Error('The timeline does not say how long it is.');
  const columns = readColumns(header, blob);
  const losses = new Losses();
  const timeline = readEvents(header, columns);
  for (const head of header.tracks.slice(0, kNoTrack)) {
    timeline.tracks.push(await readTrack(timeline, columns, head, losses));
    await pause();
  }
  readLinks(timeline, losses);
  for (const head of header.counters ?? []) {
    const track = timeline.tracks.find((candidate) => candidate.id === head.track);
    if (track) track.counter = readCounter(columns, head, losses);
    else losses.add('counters without a track');
  }
  timeline.path = readPath(timeline, losses);
  const undrawn = timeline.trackOf.reduce((sum, track) => sum + (track === kNoTrack ? 1 : 0), 0);
  if (undrawn > losses.leftOut) losses.add('events that belong to no track', undrawn - losses.leftOut);
  timeline.problems = losses.sentences();
  return timeline;
}
