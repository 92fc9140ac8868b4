// Owns the canvas: one frame per animation frame, and only when something changed.

import { kTop, type Model } from './model';
import { CounterPainter } from './paint/counters';
import type { Frame } from './paint/frame';
import { OverviewPainter } from './paint/overview';
import { paintMeasure, paintSelection } from './paint/overlay';
import { PathPainter } from './paint/path';
import { paintGrid, paintPointer, paintRuler } from './paint/ruler';
import { RowPainter } from './paint/rows';
import { css } from './rgb';
import { snapSpan } from './span';
import { readTheme, type Theme } from './theme';

export class Renderer {
  theme: Theme;
  private readonly ctx: CanvasRenderingContext2D;
  private readonly rows = new RowPainter();
  private readonly counters = new CounterPainter();
  private readonly overview = new OverviewPainter();
  private readonly path = new PathPainter();
  private pending = 0;

  /** `onFrame` is called after each frame, to move what lies over the canvas with it. */
  constructor(private readonly model: Model, private readonly canvas: HTMLCanvasElement,
              private readonly root: HTMLElement, private readonly onFrame: () => void) {
    this.ctx = canvas.getContext('2d', { alpha: false })!;
    this.theme = readTheme(root);
    model.requestFrame = () => {
      this.pending ||= requestAnimationFrame(this.frame);
    };
  }

  stop(): void {
    cancelAnimationFrame(this.pending);
    this.model.requestFrame = () => {};
  }

  refreshTheme(): void {
    this.theme = readTheme(this.root);
    this.model.requestFrame();
  }

  private readonly frame = (now: number): void => {
    this.pending = 0;
    this.model.advance(now);
    this.draw();
    this.onFrame();
  };

  private fitCanvas(): void {
    const { width, height, ratio } = this.model.size;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width === w && this.canvas.height === h) return;
    this.canvas.width = w;
    this.canvas.height = h;
  }

  private draw(): void {
    this.fitCanvas();
    const { ctx, model, theme } = this;
    const { width, height, ratio } = model.size;
    const span = snapSpan(model.span, Math.max(1, Math.round(width * ratio)));
    const frame: Frame = { ctx, model, theme, span, colors: model.data.colorsFor(model.colorBy, theme) };
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = css(theme.background);
    ctx.fillRect(0, 0, width, height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, kTop, width, Math.max(0, height - kTop));
    ctx.clip();
    paintGrid(frame);
    this.rows.paint(frame);
    this.counters.paint(frame);
    if (model.showPath) this.path.paint(frame);
    paintSelection(frame);
    paintMeasure(frame);
    this.paintScrollbar(frame);
    ctx.restore();
    this.overview.paint(frame);
    paintRuler(frame);
    paintPointer(frame);
  }

  private paintScrollbar({ ctx, model, theme }: Frame): void {
    const whole = model.place.height + 12;
    const seen = model.plotHeight;
    if (whole <= seen) return;
    ctx.fillStyle = css(theme.muted, 0.5);
    ctx.beginPath();
    ctx.roundRect(model.size.width - 6, kTop + (model.scroll / whole) * seen, 4, Math.max(20, (seen / whole) * seen), 2);
    ctx.fill();
  }
}
