// Paints what lies over the rows: the selection with its arrows, the measured stretch.

import { rowTop } from '../layout';
import { kTop } from '../model';
import { css } from '../rgb';
import { duration } from '../units';
import { plate, xOf, yOf, type Frame } from './frame';

/** Left, right and top of an event's box; null for tracks without a place. */
function boxOf(frame: Frame, event: number): { left: number; right: number; top: number } | null {
  const { timeline } = frame.model.data;
  const track = timeline.tracks[timeline.trackOf[event]!]!;
  const y = rowTop(frame.model.place, track, timeline.depths[event]!);
  if (y < 0) return null;
  const left = xOf(frame, timeline.starts[event]!);
  const right = xOf(frame, timeline.starts[event]! + timeline.durations[event]!);
  return { left, right: Math.max(left + 1, right), top: yOf(frame, y) };
}

export function outline(frame: Frame, event: number, color: string, thick: number): void {
  const { ctx, model } = frame;
  const box = boxOf(frame, event);
  if (!box) return;
  const left = Math.max(box.left, -10);
  const right = Math.min(box.right, model.size.width + 10);
  if (right < left) return;
  ctx.strokeStyle = color;
  ctx.lineWidth = thick;
  const wide = Math.max(right - left, 3);
  ctx.strokeRect(left - thick / 2 + 0.5, box.top - thick / 2 + 0.5, wide + thick - 1, model.place.metrics.row - 2 + thick);
}

function arrow(frame: Frame, from: number, to: number, color: string): void {
  const { ctx, model } = frame;
  const a = boxOf(frame, from);
  const b = boxOf(frame, to);
  if (!a || !b) return;
  const middle = model.place.metrics.row / 2;
  const x0 = a.right <= b.left ? a.right : a.left;
  const [y0, x1, y1] = [a.top + middle, b.left, b.top + middle];
  const bend = Math.min(120, Math.max(18, Math.abs(x1 - x0) / 2));
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 7, y1 - 4);
  ctx.lineTo(x1 - 7, y1 + 4);
  ctx.fill();
}

export function paintSelection(frame: Frame): void {
  const { model, theme } = frame;
  if (model.hover && model.hover.event >= 0) outline(frame, model.hover.event, css(theme.text, 0.55), 1);
  if (model.selection < 0 || !model.facts) return;
  const { launcher, launched } = model.facts;
  const color = css(theme.text, 0.85);
  if (launcher >= 0) arrow(frame, launcher, model.selection, color);
  for (const event of launched) arrow(frame, model.selection, event, color);
  for (const event of launcher >= 0 ? [launcher, ...launched] : launched) outline(frame, event, css(theme.text, 0.7), 1);
  outline(frame, model.selection, css(theme.accent), 2.5);
}

export function paintMeasure(frame: Frame): void {
  const { ctx, model, theme } = frame;
  if (!model.measured) return;
  const { from, to } = model.measured;
  const left = xOf(frame, from);
  const right = xOf(frame, to);
  ctx.fillStyle = css(theme.accent, 0.12);
  ctx.fillRect(left, kTop, right - left, model.size.height);
  ctx.fillStyle = css(theme.accent);
  ctx.fillRect(Math.round(left), kTop, 1, model.size.height);
  ctx.fillRect(Math.round(right), kTop, 1, model.size.height);
  ctx.fillRect(left, kTop + 18, right - left, 1);
  if (right < 0 || left > model.size.width) return;
  const visible = (Math.max(0, left) + Math.min(model.size.width, right)) / 2;
  plate(frame, duration(to - from), visible, kTop + 9, css(theme.accent), css(theme.background));
}
