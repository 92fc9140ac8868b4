// A drawn chart as a picture of its own.
import { download } from './download';
import { look } from './chart_look';

/// Pixels that every browser still draws.
const LONGEST_SIDE = 16_000;

interface Picture {
  text: string;
  width: number;
  height: number;
}

function pictureOf(host: HTMLElement): Picture | null {
  const drawn = host.querySelector('svg');
  if (!drawn) return null;
  const svg = drawn.cloneNode(true) as SVGSVGElement;
  // A drawing that is zoomed says how large it is by itself.
  const own = drawn.viewBox.baseVal;
  const { width, height } = own?.width ? own : drawn.getBoundingClientRect();
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('width', String(width));
  svg.setAttribute('height', String(height));
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [['width', '100%'], ['height', '100%'], ['fill', look().surface]] as const) ground.setAttribute(name, value);
  svg.prepend(ground);
  return { text: new XMLSerializer().serializeToString(svg), width, height };
}

export function saveSvg(host: HTMLElement, name: string): void {
  const picture = pictureOf(host);
  if (picture) download(`${name}.svg`, new Blob([picture.text], { type: 'image/svg+xml' }));
}

export async function savePng(host: HTMLElement, name: string): Promise<void> {
  const picture = pictureOf(host);
  if (!picture) return;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  const scale = Math.min(2, LONGEST_SIDE / Math.max(picture.width, picture.height));
  canvas.width = picture.width * scale;
  canvas.height = picture.height * scale;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && download(`${name}.png`, blob), 'image/png');
}
