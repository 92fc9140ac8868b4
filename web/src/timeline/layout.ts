// Where groups, tracks and rows lie on the vertical axis. Pure; y grows downwards from 0.

import type { Timeline, Track } from './decode';

export interface Metrics {
  group: number;    // height of a group's heading
  row: number;      // height of a row of boxes
  counter: number;  // height of a counter's plot
  gap: number;      // space below a track
  label: number;    // height of the line with a track's name above it; 0 where names stand next to the tracks
}

export const kWide: Metrics = { group: 28, row: 18, counter: 42, gap: 8, label: 0 };
export const kNarrow: Metrics = { group: 28, row: 20, counter: 40, gap: 6, label: 17 };

export interface PlacedTrack {
  id: number;
  name: string;
  kind: Track['kind'];
  y: number;
  height: number;
  plotY: number;
  plotHeight: number;
  rows: number;
  foldable: boolean;
  collapsed: boolean;
}

export interface PlacedGroup {
  name: string;
  y: number;
  height: number;
  folded: boolean;
  tracks: PlacedTrack[];
}

export interface Layout {
  metrics: Metrics;
  groups: PlacedGroup[];
  tracks: PlacedTrack[];
  byId: Map<number, PlacedTrack>;
  height: number;
}

export interface Folds {
  groups: ReadonlySet<string>;
  tracks: ReadonlySet<number>;
}

function grouped(tracks: Track[]): Map<string, Track[]> {
  const groups = new Map<string, Track[]>();
  for (const track of tracks) {
    const list = groups.get(track.group);
    if (list) list.push(track);
    else groups.set(track.group, [track]);
  }
  return groups;
}

function depthOf(track: Track, timeline: Timeline): number {
  const said = timeline.header.tracks.find((head) => head.id === track.id)?.depth;
  const known = Number.isSafeInteger(said) ? Math.min(said!, 512) : 0;
  return Math.max(1, known, track.rows.length);
}

function placeTrack(track: Track, depth: number, y: number, folds: Folds, metrics: Metrics): PlacedTrack {
  const collapsed = folds.tracks.has(track.id);
  const rows = track.counter ? 0 : collapsed ? 1 : depth;
  const plotHeight = track.counter ? (collapsed ? metrics.row : metrics.counter) : rows * metrics.row;
  return {
    id: track.id, name: track.name, kind: track.kind, y, plotY: y + metrics.label, plotHeight,
    height: metrics.label + plotHeight + metrics.gap, rows, collapsed, foldable: track.counter !== null || depth > 1,
  };
}

export function layout(timeline: Timeline, folds: Folds, metrics: Metrics): Layout {
  const result: Layout = { metrics, groups: [], tracks: [], byId: new Map(), height: 0 };
  let y = 0;
  for (const [name, tracks] of grouped(timeline.tracks)) {
    const group: PlacedGroup = { name, y, height: 0, folded: folds.groups.has(name), tracks: [] };
    y += metrics.group;
    for (const track of group.folded ? [] : tracks) {
      const placed = placeTrack(track, depthOf(track, timeline), y, folds, metrics);
      group.tracks.push(placed);
      result.tracks.push(placed);
      result.byId.set(track.id, placed);
      y += placed.height;
    }
    group.height = y - group.y;
    result.groups.push(group);
  }
  result.height = y;
  return result;
}

/** Top of the row an event lies in; the track's or group's line when that is folded away. -1 without a place. */
export function rowTop(place: Layout, track: Track, depth: number): number {
  const placed = place.byId.get(track.id);
  if (placed) return placed.plotY + Math.min(depth, Math.max(0, placed.rows - 1)) * place.metrics.row;
  const group = place.groups.find((candidate) => candidate.name === track.group);
  return group ? group.y + (place.metrics.group - place.metrics.row) / 2 : -1;
}

/** The tracks between two heights, found by binary search. */
export function tracksBetween(place: Layout, top: number, bottom: number): PlacedTrack[] {
  let low = 0;
  let high = place.tracks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (place.tracks[middle]!.y + place.tracks[middle]!.height <= top) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < place.tracks.length && place.tracks[end]!.y < bottom) end++;
  return place.tracks.slice(low, end);
}
