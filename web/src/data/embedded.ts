// A document inside the page.
import type { Profile, Report, Timeline } from './document';
import { readReport } from './read';
import type { Source } from './source';
import { inflateBase64 } from '../timeline/inflate';

export class EmbeddedSource implements Source {
  private loaded: Promise<Report> | null = null;

  constructor(private readonly element: HTMLElement | null) {}

  report(): Promise<Report> {
    return (this.loaded ??= this.read());
  }

  async profile(id: string): Promise<Profile> {
    const profile = (await this.report()).profiles.find((one) => one.id === id);
    if (!profile) throw new Error('The report has no such profile.');
    return profile;
  }

  async timeline(id: string): Promise<Timeline> {
    const { timeline: header } = await this.profile(id);
    const text = document.getElementById(`timeline-${id}`)?.textContent;
    if (!header || !text) throw new Error('The report was made without the timeline of this profile.');
    return { header, blob: await inflateBase64(text) };
  }

  onChange(): () => void {
    return () => undefined;
  }

  private async read(): Promise<Report> {
    if (!this.element) throw new Error('This page holds no document. `hone report` writes pages that do.');
    let value: unknown;
    try {
      value = JSON.parse(this.element.textContent ?? '');
    } catch (error) {
      throw new Error(`The document in this page is damaged: ${(error as Error).message}`);
    }
    return readReport(value);
  }
}
