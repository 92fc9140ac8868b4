// The document that the page shows.
import type { Analysis, BenchSweep } from '../schema';

export interface SweepEntry {
  id: string;
  path: string;
  sweep: BenchSweep;
}

export interface TimelineHeader {
  origin_ns: number;
  duration_ns: number;
  complete: boolean;
  resolution_ns: number;
  strings: string[];
  details: unknown[];
  tracks: { id: number; group: string; name: string; kind: string; first: number; count: number; depth: number }[];
  counters: { track: number; unit: string; first: number; count: number }[];
  path: { track: number; start_ns: number; end_ns: number; name: string }[];
  columns: { name: string; type: string; offset: number; count: number }[];
}

export interface Profile {
  id: string;
  name: string;
  path: string;
  /// Null until a served profile is loaded, and where the trace could not be analyzed.
  analysis: Analysis | null;
  timeline: TimelineHeader | null;
  engine: any;
}

export interface DiffEntry {
  a: string;
  b: string;
  diff: any;
}

export interface Problem {
  path: string;
  text: string;
}

export interface Report {
  schema: string;
  version: number;
  generated: string;
  hone: string;
  live: boolean;
  sweeps: SweepEntry[];
  profiles: Profile[];
  diffs: DiffEntry[];
  problems: Problem[];
}

export type Columns = Record<string, Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array>;

export interface Timeline {
  header: TimelineHeader;
  columns: Columns;
}

export interface Window {
  from: number;
  to: number;
  pixels: number;
}
