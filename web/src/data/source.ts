// Where the document comes from: from inside the page, or from `hone view` on this machine.
import type { Profile, Report, Timeline, Window } from './document';

export interface Source {
  report(): Promise<Report>;
  profile(id: string): Promise<Profile>;
  timeline(id: string, window?: Window): Promise<Timeline>;
  /// Calls back with every new report; returns how to stop.
  onChange(callback: (report: Report) => void): () => void;
}
