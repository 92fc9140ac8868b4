// A number with its unit, its definition on hover and focus, and a mark that says where it comes from.
import { describe, hintOf, originText, type FieldRef } from '../data/fields';
import { parts } from '../format';
import { Value } from './value';

/// ● measured, ○ estimated, ◇ told from a name, ▪ recorded; nothing for a given number.
export const MARKS: Record<string, string> = { measured: '●', estimated: '○', 'by name': '◇', recorded: '▪' };

export function Mark({ origin }: { origin: string }) {
  const mark = Object.hasOwn(MARKS, origin) ? MARKS[origin] : undefined;
  if (!mark) return null;
  return <span class="mark" role="img" aria-label={originText(origin)}>{mark}</span>;
}

interface FigureProps {
  value: unknown;
  of: FieldRef;
  /// Said above the number, when there is nothing else.
  label?: string;
  /// A hint for a figure that the definition in the schema does not explain enough.
  hint?: string;
}

export function Figure({ value, of, label, hint }: FigureProps) {
  const { unit, origin } = describe(of);
  const explained = [hint, hintOf(of)].filter(Boolean).join(' ');
  const number = (
    <span class="figure" tabIndex={0} data-hint={explained} data-value={typeof value === 'number' ? value : undefined}>
      <Value {...parts(value, unit)} />
      <Mark origin={origin} />
    </span>
  );
  if (!label) return number;
  return <div class="labelled"><span class="label">{label}</span>{number}</div>;
}
