// The Timeline page: loads a document, shows it, keeps the window and the selection in step with the address.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Dataset, keyText, parseKey } from './dataset';
import type { Span, TimelineDocument } from './header';
import { Model } from './model';
import { loadSpan } from './span';
import './timeline.css';
import { Viewer } from './viewer';

export { inflateBase64 } from './inflate';
export type * from './header';

export interface TimelineView {
  from?: number;
  to?: number;
  /** As keyText writes it. */
  selection?: string;
}

export interface TimelineProps {
  /** Gives the whole document, or, when that is not complete, finer data for a window. Rejects with one sentence. */
  load: (window?: { from: number; to: number; pixels: number }) => Promise<TimelineDocument>;
  /** Window in ns since the origin, and the selected event. */
  view: TimelineView;
  onView: (view: TimelineView) => void;
}

const kPatience = 250;  // ms of rest before finer data is asked for and the address follows

function viewOf(model: Model): TimelineView {
  const { span, key, duration } = model;
  const whole = span.from <= 0 && span.to >= duration;
  return {
    ...(whole ? {} : { from: Math.round(span.from), to: Math.round(span.to) }),
    ...(key ? { selection: keyText(key) } : {}),
  };
}

function same(a: TimelineView, b: TimelineView): boolean {
  return a.from === b.from && a.to === b.to && a.selection === b.selection;
}

function apply(model: Model, view: TimelineView): void {
  if (view.from !== undefined && view.to !== undefined) model.setSpan({ from: view.from, to: view.to });
  else model.setSpan({ from: 0, to: model.duration });
  if (view.selection !== viewOf(model).selection) model.selectKey(parseKey(view.selection), view.from === undefined);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the window shows less detail than the trace has. */
function wantsFiner(model: Model): boolean {
  const { header } = model.data.timeline;
  if (model.whole.timeline.header.complete || (model.data.span && header.complete)) return false;
  const perPixel = (model.span.to - model.span.from) / model.size.width;
  return perPixel < (header.resolution_ns || Infinity);
}

/** Pixels to ask for: loadSpan gives up to six windows, each of which needs a value per pixel of the screen. */
function pixelsFor({ size }: Model): number {
  return 6 * 2 ** Math.ceil(Math.log2(Math.max(256, size.width * size.ratio)));
}

/** Finer data for the window, once it rests; a newer wish replaces an older one. */
class FineLoader {
  private wanted: Span | null = null;

  constructor(private readonly model: Model, private readonly load: TimelineProps['load'],
              private readonly trouble: (text: string) => void) {}

  async update(): Promise<void> {
    if (!wantsFiner(this.model)) return;
    const span = loadSpan(this.model.span, this.model.duration);
    if (this.wanted?.from === span.from && this.wanted.to === span.to) return;
    this.wanted = span;
    try {
      const fine = await Dataset.from(await this.load({ ...span, pixels: pixelsFor(this.model) }), span);
      if (this.wanted !== span) return;
      this.model.setFine(fine);
      this.trouble('');
    } catch (error) {
      this.wanted = null;
      this.trouble(sentence(error));
    }
  }
}

function useModelOf(load: TimelineProps['load']): { model: Model | null; error: string } {
  const [state, setState] = useState<{ model: Model | null; error: string }>({ model: null, error: '' });
  useEffect(() => {
    let stale = false;
    setState({ model: null, error: '' });
    load().then((document) => Dataset.from(document, null)).then(
      (data) => { if (!stale) setState({ model: new Model(data), error: '' }); },
      (error) => { if (!stale) setState({ model: null, error: sentence(error) }); });
    return () => { stale = true; };
  }, [load]);
  return state;
}

function Loaded({ model, load, view, onView }: TimelineProps & { model: Model }) {
  const [trouble, setTrouble] = useState('');
  const shown = useRef<TimelineView>({});
  const report = useRef(onView);
  report.current = onView;

  useEffect(() => {
    const loader = new FineLoader(model, load, setTrouble);
    let timer: ReturnType<typeof setTimeout>;
    const settle = () => {
      void loader.update();
      const now = viewOf(model);
      if (same(now, shown.current)) return;
      shown.current = now;
      report.current(now);
    };
    const unsubscribe = model.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(settle, kPatience);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [model, load]);

  useEffect(() => {
    if (same(view, shown.current)) return;
    shown.current = view;
    apply(model, view);
  }, [model, view.from, view.to, view.selection]);

  const problems = [...model.whole.timeline.problems, ...(trouble ? [`Finer data could not be loaded: ${trouble}`] : [])];
  return (
    <div class="tl-page">
      {problems.length > 0 && (
        <details class="tl-problems">
          <summary>Parts of this timeline are damaged or missing</summary>
          <ul>{problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>
        </details>
      )}
      <Viewer model={model} />
    </div>
  );
}

export function TimelinePage(props: TimelineProps) {
  const { model, error } = useModelOf(props.load);
  if (error) return <div class="tl-message" role="alert"><h3>The timeline cannot be shown</h3><p>{error}</p></div>;
  if (!model) return <div class="tl-message" role="status">Reading the timeline…</div>;
  if (model.whole.timeline.tracks.length === 0) {
    return <div class="tl-message"><h3>Nothing was recorded</h3><p>This trace has no events and no counters.</p></div>;
  }
  return <Loaded {...props} model={model} />;
}
