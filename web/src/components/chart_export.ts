// A drawn chart as a picture of its own.
import { download } from './download';
import { look } from './chart_look';

interface Picture {
  text: string;
  width: number;
  height: number;
}

function pictureOf(host: HTMLElement): Picture | null {
  const drawn = host.querySelector('svg');
  if (!drawn) return null;
  const svg = drawn.cloneNode(true) as SVGSVGElement;
  const { width, height } = drawn.getBoundingClientRect();
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
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
  canvas.width = picture.width * 2;
  canvas.height = picture.height * 2;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && download(`${name}.png`, blob), 'image/png');
}
