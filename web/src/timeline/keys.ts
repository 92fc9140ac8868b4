// The keyboard: held keys move smoothly, the others act once. Nothing here works while text is typed.

import { neighbour } from './facts';
import type { Model } from './model';

const kPanSpeed = 1.1;    // widths of the window a second
const kZoomSpeed = 2.6;   // e-folds a second
const kScrollSpeed = 900; // pixels a second
const kFirst = 0.06;      // seconds of motion a single tap is worth

type Motion = (model: Model, seconds: number) => void;

const kPan = (sign: number): Motion => (model, s) => model.pan(sign * kPanSpeed * s * model.size.width);
const kScroll = (sign: number): Motion => (model, s) => model.scrollTo(model.scroll + sign * kScrollSpeed * s);
const kZoom = (sign: number): Motion => (model, s) => {
  const at = model.pointer ? model.timeAt(model.pointer.x) : undefined;
  model.zoom(Math.exp(sign * kZoomSpeed * s), at);
};

const kMotions: Record<string, Motion> = {
  a: kPan(-1), d: kPan(1), arrowleft: kPan(-1), arrowright: kPan(1),
  w: kZoom(-1), s: kZoom(1), '+': kZoom(-1), '=': kZoom(-1), '-': kZoom(1),
  arrowup: kScroll(-1), arrowdown: kScroll(1),
};

export interface KeyActions {
  search: () => void;
  help: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

export class Keys {
  /** By physical key: the character of a key changes when shift is let go before it. */
  private readonly held = new Map<string, Motion>();
  private readonly stopping = new AbortController();
  private last = 0;
  private frame = 0;
  /** After Esc the next Tab leaves the canvas. */
  private leaving = false;

  constructor(private readonly model: Model, private readonly root: HTMLElement,
              private readonly canvas: HTMLCanvasElement, private readonly actions: KeyActions) {
    const options = { signal: this.stopping.signal };
    document.addEventListener('keydown', this.onDown, options);
    document.addEventListener('keyup', (event) => this.held.delete(event.code), options);
    window.addEventListener('blur', () => this.held.clear(), options);
    canvas.addEventListener('blur', () => { this.leaving = false; }, options);
  }

  stop(): void {
    this.stopping.abort();
    cancelAnimationFrame(this.frame);
  }

  private readonly onDown = (event: KeyboardEvent): void => {
    const { target } = event;
    const here = target === document.body || (target instanceof Node && this.root.contains(target));
    if (!here || event.defaultPrevented || isTyping(target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const motion = Object.hasOwn(kMotions, key) ? kMotions[key]! : undefined;
    if (motion ? this.hold(event.code, motion) : this.act(key, event)) event.preventDefault();
  };

  private hold(code: string, motion: Motion): boolean {
    if (this.held.has(code)) return true;
    this.held.set(code, motion);
    motion(this.model, kFirst);
    this.last = performance.now();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.move);
    return true;
  }

  private readonly move = (now: number): void => {
    if (this.held.size === 0) return;
    const seconds = Math.min(0.1, Math.max(0, now - this.last) / 1000);
    this.last = now;
    for (const motion of this.held.values()) motion(this.model, seconds);
    this.frame = requestAnimationFrame(this.move);
  };

  private act(key: string, event: KeyboardEvent): boolean {
    const { model } = this;
    if (key === 'tab') return event.target === this.canvas && this.tab(event.shiftKey ? -1 : 1);
    if (key === 'escape') return this.escape();
    this.leaving = false;
    const actions: Record<string, () => void> = {
      '/': this.actions.search, '?': this.actions.help,
      f: () => model.fitSelection(),
      '0': () => model.glideTo({ from: 0, to: model.duration }),
      n: () => model.search.step(event.shiftKey ? -1 : 1),
      m: () => { model.measuring = !model.measuring; model.changed(); },
      c: () => { model.showPath = !model.showPath; model.changed(); },
      g: () => this.follow(),
    };
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]!();
    return true;
  }

  /** From a kernel to its launch, or from a launch to the first it launched. */
  private follow(): void {
    const { facts } = this.model;
    const other = facts && (facts.launcher >= 0 ? facts.launcher : facts.launched[0] ?? -1);
    if (other !== null && other >= 0) this.model.select(other, true);
  }

  private escape(): boolean {
    const { model } = this;
    this.leaving = true;
    if (!model.measured && !model.measuring && model.selection < 0) return false;
    if (model.measured || model.measuring) {
      model.measured = null;
      model.measuring = false;
      model.changed();
    } else {
      model.select(-1);
    }
    return true;
  }

  private tab(step: 1 | -1): boolean {
    if (this.leaving) return false;
    const { model } = this;
    const next = model.selection >= 0 ? neighbour(model.data.timeline, model.selection, step) : this.firstInView();
    if (next < 0) return false;
    model.select(next, true);
    return true;
  }

  private firstInView(): number {
    const { model } = this;
    for (const placed of model.place.tracks) {
      const row = model.data.timeline.tracks.find((track) => track.id === placed.id)?.rows[0];
      const [begin, end] = row?.range(model.span.from, model.span.to) ?? [0, 0];
      if (row && begin < end) return row.events[begin]!;
    }
    return -1;
  }
}
