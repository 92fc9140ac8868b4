// Numbers as people read them: a unit, few digits, and a dash for a figure that was not measured.

export const NONE = '–';
const THIN = '\u202f';

export interface Formatted {
  number: string;
  unit: string;
}

/// The bound of sums and of the ticks of an axis.
const LARGEST = 1e300;

const isNumber = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) < LARGEST;
export const finite = (value: unknown): number | null => (isNumber(value) ? value : null);

export function grouped(digits: string): string {
  const [whole = '', part] = digits.split('.');
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return part === undefined ? spaced : `${spaced}.${part}`;
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

export function scientific(value: number, digits = 1): string {
  const [mantissa, exponent = ''] = value.toExponential(digits - 1).split('e');
  const raised = exponent.replace('+', '').replace('-', '⁻').replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]!);
  return mantissa === '1' ? `10${raised}` : `${mantissa}·10${raised}`;
}

/// With this number of significant digits, but never fewer than the whole part has.
export function significant(value: number, digits = 4): string {
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  if (size < -4 || size > 14) return scientific(value, digits);
  const text = value.toFixed(Math.min(20, Math.max(0, digits - 1 - size)));
  return grouped(text);
}

type Scale = readonly (readonly [number, string])[];

const TIME: Scale = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const decimal = (unit: string): Scale => [
  [1e15, `P${unit}`], [1e12, `T${unit}`], [1e9, `G${unit}`], [1e6, `M${unit}`], [1e3, `k${unit}`], [1, unit],
];

/// Unit of a field, the scale it is shown in, and what one of it is in the base of that scale.
const SCALES: Record<string, readonly [Scale, number]> = {
  ns: [TIME, 1],
  ms: [TIME, 1e6],
  s: [TIME, 1e9],
  bytes: [decimal('B'), 1],
  MB: [decimal('B'), 1e6],
  'bytes/s': [decimal('B/s'), 1],
  flop: [decimal('FLOP'), 1],
  'flop/s': [decimal('FLOP/s'), 1],
};

function scaled(value: number, scale: Scale, factor: number): Formatted {
  const base = value * factor;
  const size = Math.abs(base);
  // A value that rounds up to the next unit is shown in it: 999.97 ns is 1 µs.
  const step = scale.find(([one]) => size >= one * 0.99995) ?? scale[scale.length - 1]!;
  const [one, unit] = size === 0 ? ([1, scale[scale.length - 1]![1]] as const) : step;
  const whole = one === 1 && Number.isInteger(base) && size < 1e6;
  return { number: whole ? grouped(String(base)) : significant(base / one), unit };
}

function percent(value: number): Formatted {
  const share = value * 100;
  if (share !== 0 && Math.abs(share) < 0.05) return { number: share < 0 ? '>-0.1' : '<0.1', unit: '%' };
  return { number: share.toFixed(1), unit: '%' };
}

function count(value: number): Formatted {
  return { number: Number.isInteger(value) ? grouped(String(value)) : significant(value), unit: '' };
}

export function parts(value: unknown, unit: string): Formatted {
  if (!isNumber(value)) return { number: NONE, unit: '' };
  const scale = SCALES[unit];
  if (scale) return scaled(value, ...scale);
  if (unit === 'share') return percent(value);
  if (unit === 'ratio') return { number: significant(value, 3), unit: '×' };
  if (unit === 'count') return count(value);
  if (unit === '1/s') return { number: significant(value), unit: '/s' };
  return { number: Number.isInteger(value) ? grouped(String(value)) : significant(value), unit };
}

const TIGHT = new Set(['×', '/s']);

export function format(value: unknown, unit: string): string {
  const { number, unit: shown } = parts(value, unit);
  return shown ? `${number}${TIGHT.has(shown) ? '' : THIN}${shown}` : number;
}

/// For the ticks of an axis: round numbers, without the zeros that would only claim to be exact.
export function formatTick(value: number, unit: string): string {
  return format(value, unit).replace(/(\.\d*?)0+(?!\d)/, '$1').replace(/\.(?!\d)/, '');
}

/// A confidence interval or another range: 1.09–1.62×.
export function formatRange(low: unknown, high: unknown, unit: string): string {
  if (!isNumber(low) || !isNumber(high)) return NONE;
  const [a, b] = [parts(low, unit), parts(high, unit)];
  const end = format(high, unit);
  return a.unit === b.unit ? `${a.number}–${end}` : `${format(low, unit)}–${end}`;
}

export function formatDate(text: unknown): string {
  if (typeof text !== 'string' || Number.isNaN(Date.parse(text))) return NONE;
  return `${new Date(text).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
