// A document that `hone view` serves on this machine and changes while files come and go.
import type { Profile, Report, Timeline, TimelineHeader, Window } from './document';
import { readProfile, readReport } from './read';
import type { Source } from './source';

const POLL_MS = 5000;

const READING = 202;
const AGAIN_MS = 500;

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/// Asks again while the trace is being read.
async function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(path, { headers });
  if (response.status === READING) {
    await later(AGAIN_MS);
    return ask(path, headers);
  }
  if (response.ok || response.status === 304) return response;
  const reason = (await response.text()).trim();
  throw new Error(reason || `hone view answered ${response.status} to ${path}.`);
}

export class ServedSource implements Source {
  private tag = '';
  private readonly profiles = new Map<string, Promise<Profile>>();

  async report(): Promise<Report> {
    const report = await this.poll(true);
    if (!report) throw new Error('hone view sent no report.');
    return report;
  }

  profile(id: string): Promise<Profile> {
    const known = this.profiles.get(id);
    if (known) return known;
    const loading = this.load(id);
    this.profiles.set(id, loading);
    loading.catch(() => this.profiles.delete(id));
    return loading;
  }

  /// The answer is the length of the header (u32), the header as JSON, padding to 8 bytes, and the columns.
  async timeline(id: string, window?: Window): Promise<Timeline> {
    const query = window ? `?from=${window.from}&to=${window.to}&pixels=${window.pixels}` : '';
    const bytes = await (await ask(`api/timeline/${encodeURIComponent(id)}${query}`)).arrayBuffer();
    const length = new DataView(bytes).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as TimelineHeader;
    return { header, blob: bytes.slice(Math.ceil((4 + length) / 8) * 8) };
  }

  onChange(callback: (report: Report) => void): () => void {
    const look = async () => {
      // A server that is gone leaves what was loaded; the next look may find it again.
      const report = await this.poll(false).catch(() => null);
      if (!report) return;
      this.profiles.clear();
      callback(report);
    };
    const timer = setInterval(look, POLL_MS);
    return () => clearInterval(timer);
  }

  private async load(id: string): Promise<Profile> {
    const response = await ask(`api/profiles/${encodeURIComponent(id)}`);
    const profile = readProfile(await response.json());
    if (!profile) throw new Error('hone view sent a profile that cannot be read.');
    return profile;
  }

  private async poll(anew: boolean): Promise<Report | null> {
    const response = await ask('api/report', !anew && this.tag ? { 'If-None-Match': this.tag } : {});
    const tag = response.headers.get('etag') ?? '';
    if (response.status === 304 || (!anew && tag !== '' && tag === this.tag)) return null;
    this.tag = tag;
    return readReport(await response.json());
  }
}
