// A time with the interval that it lies in.
import { describe, type FieldRef } from '../data/fields';
import { finite, formatRange, parts } from '../format';
import { Value } from './value';

interface IntervalProps {
  value: unknown;
  low: unknown;
  high: unknown;
  of: FieldRef;
}

export function Interval({ value, low, high, of }: IntervalProps) {
  const { unit } = describe(of);
  const known = finite(low) !== null && finite(high) !== null;
  return <><Value {...parts(value, unit)} />{known && <span class="interval">{formatRange(low, high, unit)}</span>}</>;
}
