// The critical path in the shape that the page draws, whatever the document holds.
import { dict, dicts, text } from '../../data/safe';
import { finite } from '../../format';
import type { CriticalPath, FunctionTime, SegmentTable } from '../../schema';
import { inOrder } from './kinds';

export interface PathFunction extends Partial<FunctionTime> {
  key: string;
  kind: string;
  name: string;
}

export interface Segment {
  index: number;
  /// From the begin of the path, in nanoseconds.
  start: number;
  end: number;
  function: number;
  kind: string;
  name: string;
  thread: number;
}

export interface PathModel {
  start: number;
  wall: number;
  functions: PathFunction[];
  segments: Segment[];
  leftOut: number;
  /// One lane each.
  kinds: string[];
}

const DEFAULT = ['start_ns', 'end_ns', 'function', 'thread', 'event'];

export function functionsOf(path: Partial<CriticalPath>): PathFunction[] {
  return dicts<FunctionTime>(path.functions).map((one, i) => ({ ...one, key: String(i), kind: text(one.kind), name: text(one.name) }));
}

function segmentsOf(table: Partial<SegmentTable>, begin: number, functions: PathFunction[]): Segment[] {
  const columns = Array.isArray(table.columns) ? table.columns : DEFAULT;
  const [start, end, which, thread] = DEFAULT.map((name) => columns.indexOf(name)) as [number, number, number, number];
  const rows = Array.isArray(table.rows) ? table.rows.filter(Array.isArray) : [];
  const read = rows.flatMap((row): Segment[] => {
    const [from, to] = [finite(row[start]), finite(row[end])];
    if (from === null || to === null || to < from) return [];
    const one = functions[finite(row[which]) ?? -1];
    return [{ index: 0, start: from - begin, end: to - begin, function: one ? Number(one.key) : -1, kind: one?.kind ?? 'unknown', name: one?.name ?? '', thread: finite(row[thread]) ?? -1 }];
  });
  return read.sort((a, b) => a.start - b.start).map((segment, index) => ({ ...segment, index }));
}

export function pathOf(path: Partial<CriticalPath>): PathModel {
  const functions = functionsOf(path);
  const start = finite(path.start_ns) ?? 0;
  const table = dict<SegmentTable>(path.segments);
  const segments = segmentsOf(table, start, functions);
  const last = segments.reduce((most, { end }) => Math.max(most, end), 0);
  return {
    start, functions, segments, wall: Math.max(finite(path.wall_ns) ?? 0, last, 1), leftOut: finite(table.left_out) ?? 0,
    kinds: inOrder(segments.map(({ kind }) => kind)),
  };
}
