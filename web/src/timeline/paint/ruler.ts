// Paints the ruler, the grid under the rows, and the lines between groups.

import { kOverview, kRuler, kTop } from '../model';
import { css } from '../rgb';
import { moment, ticks } from '../units';
import { font, kSmall, plate, xOf, yOf, type Frame } from './frame';

const kGap = 96;  // least distance of ticks, CSS pixels

export function paintGrid(frame: Frame): void {
  const { ctx, model, theme, span } = frame;
  const { width, height } = model.size;
  ctx.fillStyle = css(theme.line, theme.dark ? 0.5 : 0.7);
  for (const time of ticks(span.from, span.to, width, kGap).times) ctx.fillRect(Math.round(xOf(frame, time)), kTop, 1, height);
  for (const group of model.place.groups) {
    const y = yOf(frame, group.y);
    if (y > height || y + model.place.metrics.group < kTop) continue;
    ctx.fillStyle = css(theme.raised);
    ctx.fillRect(0, y, width, model.place.metrics.group - 4);
  }
}

export function paintRuler(frame: Frame): void {
  const { ctx, model, theme, span } = frame;
  const { width } = model.size;
  const { step, times } = ticks(span.from, span.to, width, kGap);
  ctx.fillStyle = css(theme.background);
  ctx.fillRect(0, kOverview, width, kRuler);
  ctx.font = font(theme, kSmall);
  ctx.textBaseline = 'middle';
  for (const time of times) {
    const x = Math.round(xOf(frame, time));
    ctx.fillStyle = css(theme.line);
    ctx.fillRect(x, kTop - 9, 1, 9);
    for (let k = 1; k < 5; k++) ctx.fillRect(Math.round(xOf(frame, time + (k * step) / 5)), kTop - 4, 1, 4);
    ctx.fillStyle = css(theme.muted);
    ctx.fillText(moment(time, step), x + 4, kOverview + kRuler / 2 - 1);
  }
  ctx.fillStyle = css(theme.line);
  ctx.fillRect(0, kTop - 1, width, 1);
}

/** The line under the pointer, with its time on the ruler. */
export function paintPointer(frame: Frame): void {
  const { ctx, model, theme, span } = frame;
  if (!model.pointer || model.pointer.y < kOverview) return;
  const { x } = model.pointer;
  ctx.fillStyle = css(theme.text, 0.35);
  ctx.fillRect(Math.round(x), kTop, 1, model.size.height);
  const perPixel = (span.to - span.from) / model.size.width;
  plate(frame, moment(model.timeAt(x), Math.max(1, 10 ** Math.floor(Math.log10(perPixel)))), x, kOverview + 3,
    css(theme.text), css(theme.background));
}
