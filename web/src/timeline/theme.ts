// The page's colours as the canvas needs them, read from CSS variables of the mounted element.

import { luminance, type Rgb } from './rgb';

export interface Theme {
  dark: boolean;
  background: Rgb;
  raised: Rgb;
  text: Rgb;
  muted: Rgb;
  line: Rgb;
  accent: Rgb;
  warm: Rgb;
  font: string;
}

let pixel: CanvasRenderingContext2D | null = null;

/** Any CSS colour, whatever its notation, as three bytes: the canvas paints it and is asked what it painted. */
function resolve(color: string): Rgb {
  pixel ??= Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true })!;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  const { data } = pixel.getImageData(0, 0, 1, 1);
  return [data[0]!, data[1]!, data[2]!];
}

/** Reads the theme with a hidden child of `root`, which takes each variable as its colour in turn. */
export function readTheme(root: HTMLElement): Theme {
  const probe = document.createElement('i');
  probe.hidden = true;
  root.append(probe);
  const read = (variable: string): Rgb => {
    probe.style.color = `var(${variable})`;
    return resolve(getComputedStyle(probe).color);
  };
  const theme: Theme = {
    dark: false, background: read('--tl-background'), raised: read('--tl-raised'), text: read('--tl-text'),
    muted: read('--tl-muted'), line: read('--tl-line'), accent: read('--tl-accent'), warm: read('--tl-warm'),
    font: getComputedStyle(root).fontFamily,
  };
  probe.remove();
  return { ...theme, dark: luminance(theme.background) < 0.2 };
}

/** Calls back when the system's or the page's theme may have changed. Returns how to stop. */
export function watchTheme(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(changed);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ['class', 'data-theme', 'style'] });
  }
  system.addEventListener('change', changed);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', changed);
  };
}
