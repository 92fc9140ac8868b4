// Paints the rows of boxes: one line of pixels per row, stretched to its height, then the text.

import { kMerged } from '../decode';
import { Labels } from '../label';
import { tracksBetween, type PlacedTrack } from '../layout';
import { paintRow, type Strip } from '../lod';
import { css } from '../rgb';
import { font, kText, yOf, type Frame } from './frame';

const kLeastLabel = 26;  // CSS pixels a box needs for text
const kPadding = 5;

interface Text {
  event: number;
  x: number;
  width: number;
  line: number;
}

export class RowPainter {
  private readonly canvas = document.createElement('canvas');
  private readonly strips = this.canvas.getContext('2d', { willReadFrequently: true })!;
  private image = new ImageData(1, 1);
  private labels: { font: string; labels: Labels } | null = null;

  paint(frame: Frame): void {
    const { model } = frame;
    const tracks = tracksBetween(model.place, model.scroll, model.scroll + model.plotHeight);
    const lines = this.visibleLines(frame, tracks);
    const width = Math.round(model.size.width * model.size.ratio);
    this.prepare(width, lines.length);
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    const texts: Text[] = [];
    const { ratio } = model.size;
    lines.forEach(({ track, row }, line) => {
      const strip: Strip = {
        pixels, offset: line * width, width, labelled: kLeastLabel * ratio,
        onBox: (event, from, to) => texts.push({ event, x: from / ratio, width: (to - from) / ratio, line }),
      };
      paintRow(strip, model.data.timeline, track.rows[row]!, frame.span, frame.colors.fill, model.marks);
    });
    this.strips.putImageData(this.image, 0, 0);
    this.stretch(frame, lines.map(({ y }) => y), width);
    this.paintTexts(frame, texts, lines.map(({ y }) => y));
  }

  private visibleLines(frame: Frame, tracks: PlacedTrack[]) {
    const { model } = frame;
    const height = model.place.metrics.row;
    const byId = new Map(model.data.timeline.tracks.map((track) => [track.id, track]));
    return tracks.flatMap((placed) => {
      const track = byId.get(placed.id);
      const count = track ? Math.min(placed.rows, track.rows.length) : 0;
      return Array.from({ length: count }, (_, row) => ({ track: track!, row, y: placed.plotY + row * height }))
        .filter(({ y }) => y + height > model.scroll && y < model.scroll + model.plotHeight);
    });
  }

  private prepare(width: number, lines: number): void {
    if (this.image.width === width && this.image.height >= lines) return;
    this.canvas.width = width;
    this.canvas.height = Math.max(lines, 64);
    this.image = new ImageData(width, this.canvas.height);
  }

  private stretch(frame: Frame, tops: number[], width: number): void {
    const { ctx, model } = frame;
    ctx.imageSmoothingEnabled = false;
    const height = model.place.metrics.row - 1;
    tops.forEach((top, line) => ctx.drawImage(this.canvas, 0, line, width, 1, 0, yOf(frame, top), model.size.width, height));
  }

  private labelsFor(frame: Frame): Labels {
    const { ctx } = frame;
    if (this.labels?.font !== ctx.font) {
      this.labels = { font: ctx.font, labels: new Labels((text) => ctx.measureText(text).width) };
    }
    return this.labels.labels;
  }

  private paintTexts(frame: Frame, texts: Text[], tops: number[]): void {
    const { ctx, model } = frame;
    const { timeline, names } = model.data;
    ctx.font = font(frame.theme, kText);
    ctx.fillStyle = css(frame.theme.text);
    ctx.textBaseline = 'middle';
    const labels = this.labelsFor(frame);
    const middle = model.place.metrics.row / 2;
    for (const { event, x, width, line } of texts) {
      const name = names.short(timeline.names[event]!);
      const many = timeline.flags[event]! & kMerged ? `${timeline.merged[event]!} × ${name}` : name;
      const text = labels.fit(many, width - 2 * kPadding);
      if (text !== '') ctx.fillText(text, x + kPadding, yOf(frame, tops[line]!) + middle);
    }
  }
}
