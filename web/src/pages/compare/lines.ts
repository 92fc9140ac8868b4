// Lines of the comparison: runs of one sweep that differ in their batch only.
import { SYMBOLS, DASHES, type Look } from '../../components/chart_look';
import { finite, formatDate } from '../../format';
import { clip } from '../../text';
import type { Run } from '../../schema';
import { comparableKey } from './comparable';
import type { Entry } from './select';

export interface Line {
  key: string;
  name: string;
  entry: Entry;
  backend: string;
  precision: string;
  runs: Run[];
  colour: number;
  pattern: number;
}

export interface Row {
  line: Line;
  run: Run;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const letterOf = (i: number): string => LETTERS[i] ?? `#${i + 1}`;

const conditions = (run: Run): string =>
  [run.includes_transfers ? 'with transfers' : '', run.cold_l2 ? 'cold L2' : '', run.busy_threads ? `${run.busy_threads} busy` : ''].filter(Boolean).join(', ');

function groups(entry: Entry): Map<string, Run[]> {
  const found = new Map<string, Run[]>();
  for (const run of entry.runs) {
    const key = comparableKey(run, { model: true, batch: true });
    found.set(key, [...(found.get(key) ?? []), run]);
  }
  return found;
}

/// The same place of a name in every list, so that a backend keeps its colour; hone is always first.
export function ranked(names: string[]): string[] {
  return [...new Set(names)].sort((a, b) => Number(b === 'hone') - Number(a === 'hone') || a.localeCompare(b));
}

export function linesOf(entries: Entry[], backends: string[]): Line[] {
  const machines = [...new Set(entries.map(({ machine }) => machine.key))];
  const precisions = ranked(entries.flatMap(({ runs }) => runs.map((run) => run.precision)));
  const lines = entries.flatMap((entry) => [...groups(entry)].map(([key, runs]): Line => {
    const { backend, precision } = runs[0]!;
    const letter = machines.length > 1 ? letterOf(machines.indexOf(entry.machine.key)) : '';
    const perMachine = entries.filter(({ machine }) => machine.key === entry.machine.key).length;
    const date = perMachine > 1 ? formatDate(entry.sweep.context.date).slice(5, 16) : '';
    const name = [`${clip(backend, 40)} ${clip(precision, 12)}`, conditions(runs[0]!), letter, date].filter(Boolean).join(' · ');
    return {
      key: `${entry.id}|${key}`, name, entry, backend, precision,
      runs: [...runs].sort((a, b) => (finite(a.batch) ?? 0) - (finite(b.batch) ?? 0)),
      colour: backends.indexOf(backend), pattern: precisions.indexOf(precision),
    };
  }));
  if (entries.length < 2) return lines;
  // Backend and precision do not distinguish these.
  return lines.map((line, i) => ({ ...line, colour: i, pattern: Math.floor(i / 8) }));
}

export const rowsOf = (lines: Line[]): Row[] => lines.flatMap((line) => line.runs.map((run) => ({ line, run })));

export const batchesOf = (lines: Line[]): number[] =>
  [...new Set(rowsOf(lines).flatMap(({ run }) => finite(run.batch) ?? []))].sort((a, b) => a - b);

export const colourOf = (line: Line, of: Look): string => of.series[line.colour % of.series.length]!;
export const symbolOf = (line: Line): string => SYMBOLS[line.colour % SYMBOLS.length]!;
export const dashOf = (line: Line) => DASHES[line.pattern % DASHES.length]!;

export type State = 'valid' | 'invalid' | 'failed';
export const stateOf = (run: Run): State => (run.failure ? 'failed' : run.verdict.valid ? 'valid' : 'invalid');
