// Paints counters as steps: the area below, and for each pixel the range from its smallest to its largest value.
// Written into a pixel buffer: filling paths of a thousand rectangles takes the canvas longer than all the rest.

import { steps, type Counter, type Steps } from '../counters';
import { tracksBetween, type PlacedTrack } from '../layout';
import { css, faded, pack } from '../rgb';
import { quantity } from '../units';
import { font, kSmall, yOf, type Frame } from './frame';

const kAreaAlpha = 46;
const kRangeAlpha = 150;  // inside the range of a pixel, so that a noisy counter is no solid block

/** One column: from `top` to `bottom` the line, from there to `base` the area. All in rows of the buffer. */
function column(pixels: Uint32Array, width: number, x: number, line: [number, number], thick: number, base: number, colors: [number, number, number]): void {
  const [top, bottom] = line;
  const first = Math.min(bottom, base);
  const last = Math.max(top, base);
  for (let y = first; y < last; y++) pixels[y * width + x] = colors[1];
  for (let y = top; y < bottom; y++) pixels[y * width + x] = colors[2];
  for (let y = top; y < Math.min(bottom, top + thick); y++) pixels[y * width + x] = colors[0];
  for (let y = Math.max(top, bottom - thick); y < bottom; y++) pixels[y * width + x] = colors[0];
}

export class CounterPainter {
  private readonly canvas = document.createElement('canvas');
  private readonly buffer = this.canvas.getContext('2d', { willReadFrequently: true })!;
  private image = new ImageData(1, 1);

  paint(frame: Frame): void {
    const { model } = frame;
    for (const placed of tracksBetween(model.place, model.scroll, model.scroll + model.plotHeight)) {
      if (placed.kind !== 'counter') continue;
      const [counter, whole] = [model.data, model.whole].map(({ timeline }) => timeline.tracks.find((track) => track.id === placed.id)?.counter);
      if (counter && whole && counter.times.length > 0) this.paintCounter(frame, counter, whole, placed);
    }
  }

  /** The scale is that of the whole trace, whatever part of it is loaded. */
  private paintCounter(frame: Frame, counter: Counter, whole: Counter, placed: PlacedTrack): void {
    const { width, ratio } = frame.model.size;
    const top = yOf(frame, placed.plotY);
    this.prepare(Math.round(width * ratio), Math.round(placed.plotHeight * ratio));
    this.paintSteps(frame, whole, steps(counter, frame.span, this.image.width));
    this.buffer.putImageData(this.image, 0, 0);
    frame.ctx.drawImage(this.canvas, 0, top, width, placed.plotHeight);
    if (!placed.collapsed) paintMost(frame, whole, top);
  }

  private prepare(width: number, height: number): void {
    if (this.image.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = new ImageData(width, height);
    }
  }

  private paintSteps(frame: Frame, scale: Counter, { low, high }: Steps): void {
    const { width, height } = this.image;
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    const thick = Math.max(1, Math.round(frame.model.size.ratio));
    const floor = Math.min(0, scale.min);
    const range = Math.max(scale.max, 0) - floor || 1;
    const rowOf = (value: number) => Math.round((1 - (value - floor) / range) * (height - thick));
    const base = Math.min(height, rowOf(0) + thick);
    const solid = pack(frame.theme.accent);
    const colors: [number, number, number] = [solid, faded(solid, kAreaAlpha), faded(solid, kRangeAlpha)];
    for (let x = 0; x < width; x++) {
      if (!Number.isNaN(low[x]!)) column(pixels, width, x, [rowOf(high[x]!), rowOf(low[x]!) + thick], thick, base, colors);
    }
  }
}

function paintMost(frame: Frame, counter: Counter, top: number): void {
  const { ctx, model, theme } = frame;
  ctx.font = font(theme, kSmall);
  ctx.textBaseline = 'top';
  const text = `max ${quantity(counter.max, counter.unit)}`;
  const left = model.size.width - ctx.measureText(text).width - 14;
  ctx.fillStyle = css(theme.background, 0.85);
  ctx.fillRect(left - 5, top + 1, model.size.width - left - 4, 14);
  ctx.fillStyle = css(theme.muted);
  ctx.fillText(text, left, top + 3);
}
