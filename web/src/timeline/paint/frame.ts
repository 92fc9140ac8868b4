// Everything that a painter needs for one frame. Coordinates are CSS pixels of the canvas.

import type { Model } from '../model';
import { kTop } from '../model';
import type { Span } from '../header';
import type { Colors } from '../palette';
import type { Theme } from '../theme';

export interface Frame {
  ctx: CanvasRenderingContext2D;
  model: Model;
  theme: Theme;
  colors: Colors;
  /** The window moved to whole device pixels. */
  span: Span;
}

export const kSmall = 10;
export const kText = 11;

export function font(theme: Theme, size: number, weight = 400): string {
  return `${weight} ${size}px ${theme.font}`;
}

export function xOf(frame: Frame, time: number): number {
  const { span, model } = frame;
  return ((time - span.from) / (span.to - span.from)) * model.size.width;
}

/** A height of the layout on the canvas. */
export function yOf(frame: Frame, y: number): number {
  return y - Math.round(frame.model.scroll) + kTop;
}

/** Text on a rounded plate, centred at x and kept inside the canvas. */
export function plate(frame: Frame, text: string, x: number, y: number, fill: string, color: string): void {
  const { ctx, model } = frame;
  ctx.font = font(frame.theme, kText, 600);
  const width = ctx.measureText(text).width + 14;
  const left = Math.min(Math.max(2, x - width / 2), model.size.width - width - 2);
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.roundRect(left, y, width, 18, 4);
  ctx.fill();
  ctx.fillStyle = color;
  ctx.textBaseline = 'middle';
  ctx.fillText(text, left + 7, y + 9.5);
}
