// The state of the page: what is shown and selected. Changes ask for a frame, and notify the panels.

import { Dataset, type EventKey } from './dataset';
import { factsOf, isEvent, type Facts } from './facts';
import type { Span } from './header';
import type { Hit } from './hit';
import { kNarrow, kWide, layout, rowTop, type Layout } from './layout';
import type { Marks } from './marks';
import type { ColorBy } from './palette';
import { Search } from './finder';
import { clampSpan, fitSpan, reveal, zoomAt } from './span';

export interface Size {
  width: number;   // of the canvas, in CSS pixels
  height: number;
  ratio: number;   // device pixels per CSS pixel
}

/** Heights of the fixed bands above the plot. */
export const kOverview = 40;
export const kRuler = 26;
export const kTop = kOverview + kRuler;
const kSettle = 200;  // ms without motion after which the panels follow the window
const kGlide = 160;  // ms of a jump to another window

export class Model {
  data: Dataset;
  place: Layout;
  span: Span;
  scroll = 0;
  size: Size = { width: 1, height: 1, ratio: 1 };
  narrow = false;
  selection = -1;
  facts: Facts | null = null;
  hover: Hit | null = null;
  /** The pointer in the canvas; null while it is elsewhere. */
  pointer: { x: number; y: number } | null = null;
  measured: Span | null = null;
  measuring = false;
  showPath = false;
  colorBy: ColorBy = 'name';
  readonly search = new Search(this);
  readonly folded = new Set<string>();
  readonly collapsed = new Set<number>();
  /** Of the selection, also while the data at hand does not show it. */
  key: EventKey | null = null;
  private fine: Dataset | null = null;
  private glide: { from: Span; to: Span; begun: number } | null = null;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();
  /** Set by the renderer. */
  requestFrame: () => void = () => {};

  constructor(readonly whole: Dataset) {
    this.data = whole;
    this.span = { from: 0, to: this.duration };
    this.place = this.relayout();
  }

  get duration(): number {
    return this.whole.timeline.header.duration_ns;
  }

  get plotHeight(): number {
    return Math.max(0, this.size.height - kTop);
  }

  /** What stands out now: the critical path, or else what was found. */
  get marks(): Marks | null {
    return this.showPath ? this.data.pathMarks() : this.search.found?.marks ?? null;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Something beside the canvas has to change too. */
  changed(): void {
    this.requestFrame();
    for (const listener of this.listeners) listener();
  }

  resize(size: Size, narrow: boolean): void {
    const shrunk = size.height < this.size.height;
    this.size = size;
    this.narrow = narrow;
    this.update();
    if (shrunk && this.selection >= 0) this.scrollToEvent(this.selection);
  }

  update(): void {
    this.place = this.relayout();
    this.scrollTo(this.scroll);
    this.changed();
  }

  setSpan(span: Span): void {
    this.glide = null;
    this.moveTo(span);
  }

  /** Moves smoothly; at once for people who asked their system for less motion. */
  glideTo(span: Span): void {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.setSpan(span);
    this.glide = { from: this.span, to: clampSpan(span, this.duration), begun: performance.now() };
    this.requestFrame();
  }

  /** Advances a glide; called before each frame. */
  advance(now: number): void {
    if (!this.glide) return;
    const { from, to, begun } = this.glide;
    const part = Math.min(1, Math.max(0, (now - begun) / kGlide));
    const eased = 1 - (1 - part) ** 3;
    const length = (from.to - from.from) * ((to.to - to.from) / (from.to - from.from)) ** eased;
    const centre = (from.from + from.to) * 0.5 * (1 - eased) + (to.from + to.to) * 0.5 * eased;
    this.moveTo(part === 1 ? to : { from: centre - length / 2, to: centre + length / 2 });
    if (part === 1) this.glide = null;
    else this.requestFrame();
  }

  zoom(factor: number, at = (this.span.from + this.span.to) / 2): void {
    this.setSpan(zoomAt(this.span, factor, at, this.duration));
  }

  pan(pixels: number): void {
    const delta = (pixels * (this.span.to - this.span.from)) / this.size.width;
    this.setSpan({ from: this.span.from + delta, to: this.span.to + delta });
  }

  scrollTo(y: number): void {
    this.scroll = Math.min(Math.max(0, y), Math.max(0, this.place.height + 12 - this.plotHeight));
    this.requestFrame();
  }

  timeAt(x: number): number {
    return this.span.from + (x / this.size.width) * (this.span.to - this.span.from);
  }

  select(event: number, show = false): void {
    this.selectKey(isEvent(this.data.timeline, event) ? this.data.keyOf(event) : null, show);
  }

  selectKey(key: EventKey | null, show = false): void {
    this.key = key;
    this.findSelection();
    if (this.selection >= 0 && show) this.showEvent(this.selection);
    this.changed();
  }

  fitSelection(): void {
    if (this.measured) return this.glideTo(fitSpan(this.measured.from, this.measured.to, this.duration));
    if (!this.facts) return this.glideTo({ from: 0, to: this.duration });
    this.glideTo(fitSpan(this.facts.start, this.facts.start + this.facts.duration, this.duration));
  }

  toggleGroup(name: string): void {
    if (!this.folded.delete(name)) this.folded.add(name);
    this.update();
  }

  toggleTrack(id: number): void {
    if (!this.collapsed.delete(id)) this.collapsed.add(id);
    this.update();
  }

  /** Takes finer data for a part of the trace, and shows it wherever it suffices. */
  setFine(fine: Dataset): void {
    this.fine = fine;
    this.chooseData();
    this.changed();
  }

  private moveTo(span: Span): void {
    this.span = clampSpan(span, this.duration);
    this.chooseData();
    this.requestFrame();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.changed(), kSettle);
  }

  private chooseData(): void {
    const better = this.fine?.holds(this.span) ? this.fine : this.whole;
    if (better === this.data) return;
    this.data = better;
    this.hover = null;
    this.findSelection();
    this.search.again();
  }

  private findSelection(): void {
    this.selection = this.key ? this.data.find(this.key) : -1;
    this.facts = this.selection >= 0 ? factsOf(this.data.timeline, this.selection) : null;
  }

  private relayout(): Layout {
    const folds = { groups: this.folded, tracks: this.collapsed };
    return layout(this.whole.timeline, folds, this.narrow ? kNarrow : kWide);
  }

  private showEvent(event: number): void {
    const { timeline } = this.data;
    const track = timeline.tracks[timeline.trackOf[event]!]!;
    const start = timeline.starts[event]!;
    if (this.folded.delete(track.group)) this.update();
    if (timeline.depths[event]! > 0 && this.collapsed.delete(track.id)) this.update();
    this.scrollToEvent(event);
    const wanted = reveal(this.span, start, start + timeline.durations[event]!, this.duration);
    if (wanted !== this.span) this.glideTo(wanted);
  }

  private scrollToEvent(event: number): void {
    const { timeline } = this.data;
    const top = rowTop(this.place, timeline.tracks[timeline.trackOf[event]!]!, timeline.depths[event]!);
    const { row, label } = this.place.metrics;
    const seen = top - label >= this.scroll && top + 1.5 * row <= this.scroll + this.plotHeight;
    if (!seen) this.scrollTo(top - this.plotHeight / 2);
  }
}
