// Exports the view as a picture with the names of its tracks, and as CSV.

import { download, downloadCsv } from '../components/download';
import type { Counter } from './counters';
import type { Track } from './decode';
import { kTop, type Model } from './model';
import { clean } from './names';
import { css } from './rgb';
import type { Theme } from './theme';

const kTitle = 'Timeline';
const kGutter = 196;  // CSS pixels for names, where they do not stand above their tracks
const kHead = ['Group', 'Track', 'Row', 'Name', 'Start (ns)', 'Duration (ns)', 'Stands for (events)', 'Value', 'Unit'];

function eventRows({ data: { timeline, names }, span }: Model, track: Track): unknown[][] {
  const place = [clean(track.group), clean(track.name)];
  return track.rows.flatMap((row, depth) => {
    const [begin, end] = row.range(span.from, span.to);
    return Array.from(row.events.subarray(begin, end), (event) => [
      ...place, depth, names.of(timeline.names[event]!), timeline.starts[event]!, timeline.durations[event]!,
      Math.max(1, timeline.merged[event]!), '', '',
    ]);
  });
}

function sampleRows({ span }: Model, track: Track, counter: Counter): unknown[][] {
  const rows: unknown[][] = [];
  for (let i = Math.max(0, counter.indexAt(span.from)); i < counter.times.length && counter.times[i]! <= span.to; i++) {
    rows.push([clean(track.group), clean(track.name), '', '', counter.times[i]!, '', '', counter.values[i]!, counter.unit]);
  }
  return rows;
}

/** Events that overlap the window, and samples in it with the one before; times since the origin of the trace. */
export function csvRows(model: Model): unknown[][] {
  return model.data.timeline.tracks.flatMap((track) => (track.counter ? sampleRows(model, track, track.counter) : eventRows(model, track)));
}

export const exportCsv = (model: Model): void => downloadCsv(kTitle, kHead, csvRows(model));

function paintNames(ctx: CanvasRenderingContext2D, model: Model, theme: Theme, gutter: number): void {
  const top = (y: number) => y - Math.round(model.scroll) + kTop;
  ctx.textBaseline = 'middle';
  for (const group of model.place.groups) {
    ctx.fillStyle = css(theme.raised);
    ctx.fillRect(0, top(group.y), gutter || model.size.width, 24);
    ctx.fillStyle = css(theme.text);
    ctx.font = `600 13px ${theme.font}`;
    ctx.fillText(clean(group.name), 8, top(group.y) + 12);
    ctx.font = `12px ${theme.font}`;
    for (const track of group.tracks) ctx.fillText(clean(track.name), 16, top(track.y) + 9);
  }
}

export function exportPicture(model: Model, canvas: HTMLCanvasElement, theme: Theme): void {
  const { width, height, ratio } = model.size;
  const gutter = model.narrow ? 0 : kGutter;
  const picture = document.createElement('canvas');
  picture.width = Math.round((gutter + width) * ratio);
  picture.height = Math.round(height * ratio);
  const ctx = picture.getContext('2d', { alpha: false })!;
  ctx.scale(ratio, ratio);
  ctx.fillStyle = css(theme.background);
  ctx.fillRect(0, 0, gutter + width, height);
  ctx.drawImage(canvas, gutter, 0, width, height);
  ctx.beginPath();
  ctx.rect(0, kTop, gutter ? gutter - 4 : width, height - kTop);
  ctx.clip();
  paintNames(ctx, model, theme, gutter);
  picture.toBlob((blob) => blob && download(`${kTitle}.png`, blob), 'image/png');
}
