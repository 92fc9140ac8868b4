// Draws the path: on a canvas, or as text of an SVG for export.
import type { Look } from '../../components/chart_look';
import { formatTick } from '../../format';
import { colourOf, kindName } from './kinds';
import type { PathModel, Segment } from './path_model';
import { rectsOf, ticksOf, type Window } from './strip_rects';

export const LANE = 24;
const BAR = 16;
const AXIS = 22;
const FAINT = 0.22;

export interface Scene {
  path: PathModel;
  window: Window;
  width: number;
  /// Function whose segments are lit.
  wanted: number | null;
  selected: Segment | null;
  /// The window that is being drawn up.
  brush: readonly [number, number] | null;
}

export const heightOf = (path: PathModel): number => path.kinds.length * LANE + AXIS;
const topOf = (lane: number) => lane * LANE + (LANE - BAR) / 2;
/// The last label must not leave the picture.
const alignOf = (x: number, width: number) => (x > width - 40 ? 'right' : x < 20 ? 'left' : 'center');

export function paint(context: CanvasRenderingContext2D, scene: Scene, of: Look): void {
  const { path, window, width } = scene;
  const height = heightOf(path);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${of.font}`;
  for (const tick of ticksOf(window, width / 110)) {
    const x = ((tick - window.from) / (window.to - window.from)) * width;
    context.fillStyle = of.line;
    context.fillRect(Math.round(x), 0, 1, height - AXIS);
    context.fillStyle = of.muted;
    context.textAlign = alignOf(x, width) as CanvasTextAlign;
    context.fillText(formatTick(tick, 'ns'), x, height - 7);
  }
  for (const { lane, left, right, lit } of rectsOf(path, window, width, scene.wanted)) {
    context.globalAlpha = lit ? 1 : FAINT;
    context.fillStyle = colourOf(path.kinds[lane]!, of);
    context.fillRect(left, topOf(lane), Math.max(1, right - left), BAR);
  }
  context.globalAlpha = 1;
  if (scene.selected) outline(context, scene, scene.selected, of);
  if (!scene.brush) return;
  context.fillStyle = `${of.accent}33`;
  context.fillRect(Math.min(...scene.brush), 0, Math.abs(scene.brush[1] - scene.brush[0]), height - AXIS);
}

function outline(context: CanvasRenderingContext2D, { path, window, width }: Scene, { start, end, kind }: Segment, of: Look): void {
  const scale = width / (window.to - window.from);
  const left = (start - window.from) * scale;
  context.strokeStyle = of.text;
  context.lineWidth = 2;
  context.strokeRect(left - 1, topOf(path.kinds.indexOf(kind)) - 2, Math.max(3, (end - start) * scale + 2), BAR + 4);
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/// The drawing with the names of its lanes.
export function svgOf({ path, window, width, wanted }: Scene, of: Look): string {
  const gutter = 120;
  const height = heightOf(path);
  const rects = rectsOf(path, window, width, wanted).map(({ lane, left, right, lit }) =>
    `<rect x="${left.toFixed(2)}" y="${topOf(lane)}" width="${Math.max(1, right - left).toFixed(2)}" height="${BAR}" fill="${colourOf(path.kinds[lane]!, of)}" opacity="${lit ? 1 : FAINT}"/>`);
  const ticks = ticksOf(window, width / 110).map((tick) => {
    const x = ((tick - window.from) / (window.to - window.from)) * width;
    const anchor = { left: 'start', right: 'end', center: 'middle' }[alignOf(x, width)];
    return `<text x="${x.toFixed(1)}" y="${height - 7}" fill="${of.muted}" text-anchor="${anchor}">${escaped(formatTick(tick, 'ns'))}</text>`;
  });
  const names = path.kinds.map((kind, i) => `<text x="8" y="${topOf(i) + 12}" fill="${of.text}">${escaped(kindName(kind).slice(0, 40))}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + gutter}" height="${height}" font-family="sans-serif" font-size="11">`
    + `<rect width="100%" height="100%" fill="${of.surface}"/>${names.join('')}<g transform="translate(${gutter} 0)">${rects.join('')}${ticks.join('')}</g></svg>`;
}
