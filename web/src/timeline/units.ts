// Times and sizes as text, and the ticks of the ruler.

const kUnits: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const kMostDecimals = 9;

function unitFor(ns: number): [number, string] {
  return kUnits.find(([size]) => Math.abs(ns) >= size) ?? kUnits[3]!;
}

function grouped(value: number, decimals: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** "12.3 µs": four significant digits in the largest unit that is not below one. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return '–';
  const [size, unit] = unitFor(ns);
  const value = ns / size;
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return `${grouped(value, size === 1 ? 0 : digits)} ${unit}`;
}

/** A moment, to the precision of `step`: "12.345600 ms" when step is 1 ns. */
export function moment(ns: number, step = 1): string {
  const [size, unit] = unitFor(ns === 0 ? step : ns);
  const decimals = Math.min(kMostDecimals, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${grouped(ns / size, decimals)} ${unit}`;
}

export function quantity(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–';
  if (unit === 'bytes') return bytes(value);
  if (unit === 'ns') return duration(value);
  if (unit === 'share') return `${grouped(value * 100, 1)} %`;
  const shown = Math.abs(value) >= 1000 || Number.isInteger(value) ? grouped(value, 0) : String(Number(value.toPrecision(4)));
  return unit === '' || unit === 'count' ? shown : `${shown} ${unit}`;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(value))) / 3)));
  return `${Number((value / 1000 ** at).toPrecision(4))} ${units[at]!}`;
}

export interface Ticks {
  step: number;
  times: number[];
}

/** Ticks of 1, 2 or 5 times a power of ten, at least `gap` pixels apart. */
export function ticks(from: number, to: number, pixels: number, gap: number): Ticks {
  const least = ((to - from) / Math.max(1, pixels)) * gap;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-3)));
  const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least) ?? 10 * power);
  const times: number[] = [];
  for (let i = Math.ceil(from / step); i * step <= to && times.length < 1000; i++) times.push(i * step);
  return { step, times };
}
