// Where the document comes from: from inside the page, or from `hone view` on this machine.
import type { Profile, Report, Timeline, Window } from './document';
import { EmbeddedSource } from './embedded';
import { ServedSource } from './served';

export interface Source {
  report(): Promise<Report>;
  profile(id: string): Promise<Profile>;
  timeline(id: string, window?: Window): Promise<Timeline>;
  /// Calls back with every new report; returns how to stop.
  onChange(callback: (report: Report) => void): () => void;
}

export function openSource(): Source {
  const element = document.getElementById('hone-report');
  if (element) return new EmbeddedSource(element);
  if (location.protocol.startsWith('http')) return new ServedSource();
  return new EmbeddedSource(null);
}
