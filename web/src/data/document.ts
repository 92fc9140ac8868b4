// The document that the page shows, as the program writes it.
import type * as schema from '../schema';
import type { Profile, TimelineHeader } from '../schema';

export type { Analysis, Profile, ReportDiff, ReportPartition, ReportPipeline, ReportProblem, TimelineHeader } from '../schema';

/// Members of the machine and the options differ from run to run, so nothing is relied on.
export interface Sweep extends Omit<schema.Sweep, 'context' | 'options'> {
  context: Record<string, any>;
  options: Record<string, unknown>;
}

export interface ReportSweep extends Omit<schema.ReportSweep, 'sweep'> {
  sweep: Sweep;
}

export interface Report extends Omit<schema.Report, 'sweeps' | 'profiles'> {
  sweeps: ReportSweep[];
  profiles: Profile[];
}

export interface Timeline {
  header: TimelineHeader;
  /// Columns of numbers, where the header says they lie.
  blob: ArrayBuffer;
}

export interface Window {
  from: number;
  to: number;
  pixels: number;
}
