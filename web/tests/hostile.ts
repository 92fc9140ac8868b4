// Makes a document as bad as a stranger could: names that are markup, of any length and direction, and
// fields that are missing or of another type.
export const NAMES = [
  '<script>window.harmed = 1</script>', '<img src=x onerror="window.harmed = 1">', '"><svg onload=window.harmed=1>',
  '</script><script>window.harmed = 1</script>', '\u202egnp.exe\u0000\u0007', 'x'.repeat(10_000), '', '__proto__', 'constructor',
  'javascript:window.harmed=1', '{{constructor.constructor("window.harmed=1")()}}',
];
const ODD = [null, NaN, -1, 1e308, 'text', [], {}, true];

/// Numbers in a fixed order that looks like none.
function sequence(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * n);
  };
}

/// Every text becomes a hostile one, except those that say what the document is.
export function withHostileNames(value: any, next = sequence(7), key = ''): any {
  if (typeof value === 'string') return ['schema', 'id', 'severity'].includes(key) ? value : NAMES[next(NAMES.length)];
  if (Array.isArray(value)) return value.map((one) => withHostileNames(one, next, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withHostileNames(one, next, name)]));
}

/// One value in `rate` is something else or missing; the first levels stay, so that there is something to break.
export function withDamage(value: any, seed: number, rate = 12, next = sequence(seed), depth = 0): any {
  if (depth > 3 && next(rate) === 0) return ODD[next(ODD.length)];
  if (Array.isArray(value)) return value.map((one) => withDamage(one, seed, rate, next, depth + 1));
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(() => depth < 4 || next(rate) !== 0);
  return Object.fromEntries(kept.map(([name, one]) => [name, withDamage(one, seed, rate, next, depth + 1)]));
}
