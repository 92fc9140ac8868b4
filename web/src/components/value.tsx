// A formatted number: the unit stands back.
import type { Formatted } from '../format';

export function Value({ number, unit }: Formatted) {
  if (!unit) return <span class="value">{number}</span>;
  return <span class="value">{number}<span class="unit">{unit === '×' ? unit : `\u202f${unit}`}</span></span>;
}
