// Paints the strip on top: how busy each GPU is over the whole trace, and the part that is in view.

import type { Track } from '../decode';
import { addDensity } from '../lod';
import { kOverview, type Model } from '../model';
import { css } from '../rgb';
import type { Theme } from '../theme';
import type { Frame } from './frame';

const kMost = 4;  // GPUs that get a band of their own

/** The tracks of each band: streams by GPU; in a trace without a GPU the outermost ranges of all threads. */
function bands(tracks: Track[]): Track[][] {
  const groups = new Map<string, Track[]>();
  for (const track of tracks.filter((candidate) => candidate.kind === 'kernels')) {
    groups.set(track.group, [...(groups.get(track.group) ?? []), track]);
  }
  if (groups.size > 0) return [...groups.values()].slice(0, kMost);
  return [tracks.filter((track) => track.rows.length > 0 && track.kind !== 'steps')];
}

export class OverviewPainter {
  private readonly canvas = document.createElement('canvas');
  private key = '';

  paint(frame: Frame): void {
    const { ctx, model, theme } = frame;
    this.refresh(model, theme);
    const { width } = model.size;
    ctx.drawImage(this.canvas, 0, 0, width, kOverview);
    const left = (model.span.from / model.duration) * width || 0;
    const right = Math.max(left + 2, (model.span.to / model.duration) * width || width);
    ctx.fillStyle = css(theme.background, 0.66);
    ctx.fillRect(0, 0, left, kOverview - 1);
    ctx.fillRect(right, 0, width - right, kOverview - 1);
    ctx.fillStyle = css(theme.accent);
    ctx.fillRect(left, 0, right - left, 2);
    ctx.fillRect(left, 0, 1, kOverview - 1);
    ctx.fillRect(right - 1, 0, 1, kOverview - 1);
  }

  private refresh(model: Model, theme: Theme): void {
    const { width, ratio } = model.size;
    const key = `${width} ${ratio} ${css(theme.background)} ${css(theme.accent)}`;
    if (key === this.key) return;
    this.key = key;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(kOverview * ratio);
    const ctx = this.canvas.getContext('2d')!;
    ctx.scale(ratio, ratio);
    ctx.fillStyle = css(theme.background);
    ctx.fillRect(0, 0, width, kOverview);
    const list = bands(model.whole.timeline.tracks);
    const height = (kOverview - 5) / list.length;
    list.forEach((tracks, i) => this.paintBand(ctx, model, tracks, 4 + i * height, height - 1, theme));
    ctx.fillStyle = css(theme.line);
    ctx.fillRect(0, kOverview - 1, width, 1);
  }

  private paintBand(ctx: CanvasRenderingContext2D, model: Model, tracks: Track[], top: number, height: number, theme: Theme): void {
    const buckets = Math.max(1, Math.floor(model.size.width));
    const sums = new Float64Array(buckets);
    const span = { from: 0, to: Math.max(1, model.duration) };
    for (const track of tracks) if (track.rows[0]!) addDensity(sums, track.rows[0], span);
    ctx.fillStyle = css(theme.muted, 0.75);
    for (let x = 0; x < buckets; x++) {
      const share = Math.min(1, sums[x]!);
      if (share > 0) ctx.fillRect(x, top + height * (1 - share), 1, height * share);
    }
  }
}
