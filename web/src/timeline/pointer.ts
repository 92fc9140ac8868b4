// Mouse, pen and fingers on the canvas: drag to pan, shift or the tool to measure, pinch and wheel to zoom.

import type { Span } from './header';
import { hitTest } from './hit';
import { kOverview, kTop, type Model } from './model';
import { fitSpan } from './span';

const kClick = 4;       // pixels a pointer may move and still click
const kSnap = 6;        // pixels from which measuring snaps to the edge of an event
const kWheelZoom = 0.0022;
const kLine = 16;       // pixels of a wheel that counts lines

interface Point {
  x: number;
  y: number;
}

interface Drag {
  kind: 'pan' | 'measure' | 'window' | 'range';
  begun: Point;
  last: Point;
  moved: boolean;
  time: number;
}

export class Pointer {
  private readonly down = new Map<number, Point>();
  private drag: Drag | null = null;
  private readonly stopping = new AbortController();

  constructor(private readonly model: Model, private readonly canvas: HTMLCanvasElement) {
    const options = { signal: this.stopping.signal };
    canvas.addEventListener('pointerdown', this.onDown, options);
    canvas.addEventListener('pointermove', this.onMove, options);
    canvas.addEventListener('pointerup', this.onUp, options);
    canvas.addEventListener('pointercancel', this.onCancel, options);
    canvas.addEventListener('pointerleave', this.onLeave, options);
    canvas.addEventListener('dblclick', this.onDouble, options);
    canvas.addEventListener('wheel', this.onWheel, { passive: false, ...options });
  }

  stop(): void {
    this.stopping.abort();
  }

  private pointOf(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private hitAt({ x, y }: Point) {
    const { model } = this;
    if (y < kTop) return null;
    return hitTest(model.data.timeline, model.place, model.span, model.size.width, x, y - kTop + model.scroll);
  }

  /** The time under a point, or that of the nearest edge of the event there. */
  private timeOf(point: Point): number {
    const { model } = this;
    const time = model.timeAt(point.x);
    const hit = this.hitAt(point);
    if (!hit || hit.event < 0) return time;
    const { starts, durations } = model.data.timeline;
    const reach = (kSnap * (model.span.to - model.span.from)) / model.size.width;
    const edges = [starts[hit.event]!, starts[hit.event]! + durations[hit.event]!];
    return edges.find((edge) => Math.abs(edge - time) < reach) ?? time;
  }

  private kindAt(point: Point, shift: boolean): Drag['kind'] {
    const { model } = this;
    if (point.y < kOverview) {
      const time = this.overviewTime(point);
      const whole = model.span.to - model.span.from > 0.98 * model.duration;
      return !whole && time >= model.span.from && time <= model.span.to ? 'window' : 'range';
    }
    return shift || model.measuring || point.y < kTop ? 'measure' : 'pan';
  }

  private overviewTime(point: Point): number {
    return (point.x / this.model.size.width) * this.model.duration;
  }

  private readonly onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const point = this.pointOf(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, point);
    const time = point.y < kOverview ? this.overviewTime(point) : this.timeOf(point);
    this.drag = this.down.size > 1 ? null : { kind: this.kindAt(point, event.shiftKey), begun: point, last: point, moved: false, time };
  };

  private readonly onMove = (event: PointerEvent): void => {
    const point = this.pointOf(event);
    const before = this.down.get(event.pointerId);
    if (before && this.down.size === 2) return this.pinch(event.pointerId, before, point);
    if (before) this.down.set(event.pointerId, point);
    this.model.pointer = event.pointerType === 'touch' ? null : point;
    if (this.drag && before) return this.dragTo(point);
    this.model.hover = event.pointerType === 'touch' ? null : this.hitAt(point);
    this.canvas.style.cursor = this.cursorAt(point);
    this.model.requestFrame();
  };

  private cursorAt(point: Point): string {
    if (point.y < kOverview) return 'col-resize';
    if (point.y < kTop || this.model.measuring) return 'crosshair';
    return this.model.hover && this.model.hover.event >= 0 ? 'pointer' : 'grab';
  }

  private dragTo(point: Point): void {
    const { drag, model } = this;
    if (!drag) return;
    if (!drag.moved && Math.hypot(point.x - drag.begun.x, point.y - drag.begun.y) < kClick) return;
    drag.moved = true;
    model.hover = null;
    const [dx, dy] = [point.x - drag.last.x, point.y - drag.last.y];
    drag.last = point;
    if (drag.kind === 'pan') {
      this.canvas.style.cursor = 'grabbing';
      model.pan(-dx);
      model.scrollTo(model.scroll - dy);
    } else if (drag.kind === 'measure') {
      model.measured = ordered(drag.time, this.timeOf(point));
    } else if (drag.kind === 'window') {
      const delta = (dx / model.size.width) * model.duration;
      model.setSpan({ from: model.span.from + delta, to: model.span.to + delta });
    } else {
      model.setSpan(ordered(drag.time, this.overviewTime(point)));
    }
    model.requestFrame();
  }

  private pinch(id: number, before: Point, now: Point): void {
    const other = [...this.down].find(([key]) => key !== id)![1];
    this.down.set(id, now);
    const was = Math.max(24, Math.abs(before.x - other.x));
    const is = Math.max(24, Math.abs(now.x - other.x));
    this.model.zoom(was / is, this.model.timeAt((before.x + other.x) / 2));
    this.model.pan(-(now.x - before.x) / 2);
    this.model.scrollTo(this.model.scroll - (now.y - before.y) / 2);
  }

  private readonly onUp = (event: PointerEvent): void => {
    const { drag } = this;
    this.down.delete(event.pointerId);
    this.drag = null;
    if (!drag) return;
    if (!drag.moved) this.click(drag);
    else if (drag.kind === 'measure') this.model.changed();
    this.canvas.style.cursor = 'grab';
  };

  private click(drag: Drag): void {
    const { model } = this;
    if (drag.kind === 'window' || drag.kind === 'range') {
      const half = (model.span.to - model.span.from) / 2;
      return model.glideTo({ from: drag.time - half, to: drag.time + half });
    }
    model.measured = null;
    model.select(this.hitAt(drag.begun)?.event ?? -1);
  }

  private readonly onCancel = (event: PointerEvent): void => {
    this.down.delete(event.pointerId);
    this.drag = null;
  };

  private readonly onLeave = (): void => {
    this.model.pointer = null;
    this.model.hover = null;
    this.model.requestFrame();
  };

  private readonly onDouble = (event: MouseEvent): void => {
    const { model } = this;
    const point = this.pointOf(event);
    if (point.y < kOverview) return model.glideTo({ from: 0, to: model.duration });
    const hit = this.hitAt(point);
    if (!hit || hit.event < 0) return;
    const start = model.data.timeline.starts[hit.event]!;
    model.glideTo(fitSpan(start, start + model.data.timeline.durations[hit.event]!, model.duration));
  };

  private readonly onWheel = (event: WheelEvent): void => {
    const { model } = this;
    const point = this.pointOf(event);
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? kLine : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.ctrlKey || event.metaKey || point.y < kTop) {
      event.preventDefault();
      const at = point.y < kOverview ? this.overviewTime(point) : model.timeAt(point.x);
      return model.zoom(Math.exp(dy * kWheelZoom), at);
    }
    const across = event.shiftKey ? dx + dy : dx;
    const before = model.scroll;
    if (across !== 0) model.pan(across);
    if (!event.shiftKey) model.scrollTo(model.scroll + dy);
    if (across !== 0 || model.scroll !== before) event.preventDefault();
    model.hover = this.hitAt(point);
  };
}

function ordered(a: number, b: number): Span {
  return a <= b ? { from: a, to: b } : { from: b, to: a };
}
