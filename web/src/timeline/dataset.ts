// One decoded document with data derived from it once: names, marks of the critical path, colours.

import { decode, kMerged, type Timeline } from './decode';
import type { Span, TimelineDocument } from './header';
import { Marks, pathMarks } from './marks';
import { Names } from './names';
import { colorNames, type ColorBy, type Colors } from './palette';
import { lowerBound } from './row';
import { css } from './rgb';
import type { Theme } from './theme';

/** What finds an event again in another document of the same trace: rows are those of the whole trace everywhere. */
export interface EventKey {
  track: number;
  start: number;
  depth: number;
  /** Unknown in a link. */
  name: string | null;
}

/** An event in an address: "track.row.start". */
export const keyText = ({ track, depth, start }: EventKey): string => `${track}.${depth}.${start}`;

export function parseKey(text: string | undefined): EventKey | null {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(text ?? '')?.slice(1).map(Number);
  if (!parts?.every(Number.isSafeInteger)) return null;
  return { track: parts[0]!, depth: parts[1]!, start: parts[2]!, name: null };
}

export class Dataset {
  readonly names: Names;
  private path: Marks | null = null;
  private colors: { key: string; colors: Colors } | null = null;

  /** `span` is the part of the trace the document holds; null for all of it. */
  constructor(readonly timeline: Timeline, readonly span: Span | null) {
    this.names = new Names(timeline.header.strings);
  }

  static async from(document: TimelineDocument, span: Span | null): Promise<Dataset> {
    return new Dataset(await decode(document), span);
  }

  holds(span: Span): boolean {
    return this.span === null || (span.from >= this.span.from && span.to <= this.span.to);
  }

  pathMarks(): Marks {
    return (this.path ??= pathMarks(this.timeline));
  }

  colorsFor(by: ColorBy, theme: Theme): Colors {
    const key = `${by} ${css(theme.background)}`;
    if (this.colors?.key !== key) {
      this.colors = { key, colors: colorNames(this.timeline, this.names, by, theme.background, theme.dark) };
    }
    return this.colors.colors;
  }

  nameOf(event: number): string {
    return this.names.of(this.timeline.names[event]!);
  }

  keyOf(event: number): EventKey {
    const { timeline } = this;
    return {
      track: timeline.tracks[timeline.trackOf[event]!]!.id, start: timeline.starts[event]!,
      depth: timeline.depths[event]!, name: this.nameOf(event),
    };
  }

  /** The same event here, or the merged one that stands for it; -1 without either. */
  find(key: EventKey): number {
    const row = this.timeline.tracks.find((track) => track.id === key.track)?.rows[key.depth];
    if (!row) return -1;
    for (let i = lowerBound(row.starts, key.start); i < row.count && row.starts[i]! === key.start; i++) {
      if (key.name === null || this.nameOf(row.events[i]!) === key.name) return row.events[i]!;
    }
    const around = row.at(key.start);
    return around >= 0 && this.timeline.flags[row.events[around]!]! & kMerged ? row.events[around]! : -1;
  }
}
