// Colours as numbers: packed for pixel buffers (little-endian RGBA), and as CSS text.

export type Rgb = readonly [number, number, number];

export function pack([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function css([r, g, b]: Rgb, alpha = 1): string {
  return alpha === 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`;
}

/** `share` of a over b. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (i: number) => Math.round(a[i]! * share + b[i]! * (1 - share));
  return [part(0), part(1), part(2)];
}

/** Packed colour with a new opacity of 0..255. */
export function faded(packed: number, alpha: number): number {
  return ((packed & 0xffffff) | (alpha << 24)) >>> 0;
}

export function luminance([r, g, b]: Rgb): number {
  const linear = (v: number) => (v <= 10 ? v / 3295 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
