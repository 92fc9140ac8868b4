// The header of a timeline document, as the report and `hone view` give it: what the binary columns mean.

export type TrackKind =
  | 'kernels' | 'api' | 'ranges' | 'operators' | 'steps' | 'counter' | 'python' | 'sync' | 'overhead';

export interface TrackHeader {
  id: number;
  group: string;
  name: string;
  kind: TrackKind;
  first: number;
  count: number;
  depth: number;
}

export interface CounterHeader {
  track: number;
  unit: string;
  first: number;
  count: number;
}

export interface PathSegment {
  track: number;
  start_ns: number;
  end_ns: number;
  name: string;
}

export type ColumnType = 'u8' | 'u16' | 'u32' | 'i32' | 'f32' | 'f64';

export interface ColumnHeader {
  name: string;
  type: ColumnType;
  offset: number;
  count: number;
}

export interface TimelineHeader {
  origin_ns: number;
  duration_ns: number;
  complete: boolean;
  resolution_ns: number;
  strings: string[];
  details: Record<string, unknown>[];
  tracks: TrackHeader[];
  counters: CounterHeader[];
  path: PathSegment[];
  columns: ColumnHeader[];
}

export interface TimelineDocument {
  header: TimelineHeader;
  blob: ArrayBuffer;
}

/** A stretch of time, in ns since the origin of the document. */
export interface Span {
  from: number;
  to: number;
}
