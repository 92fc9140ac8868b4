// Which runs are compared: sweeps of one model, by machine, as lines that never cross from one sweep to another.
import type { Report, ReportSweep, Sweep } from '../../data/document';
import type { Run } from '../../schema';

export const ALL = 'all';

const last = (path: string) => path.slice(path.lastIndexOf('/') + 1) || path;

export function modelsOf(report: Report): string[] {
  return [...new Set(report.sweeps.flatMap(({ sweep }) => sweep.runs.map((run) => run.model)))].sort((a, b) => last(a).localeCompare(last(b), 'en'));
}

/// The file's name, unless two models share it.
export function shortModel(model: string, all: string[]): string {
  const shared = all.some((other) => other !== model && last(other) === last(model));
  return shared ? model : last(model);
}

export interface Machine {
  key: string;
  label: string;
}

export function machineOf({ context }: Sweep): Machine {
  const cpu = `${context.cpu || 'unknown CPU'}, ${context.cores ?? '?'} cores`;
  const label = context.gpu?.name ? `${context.gpu.name} · ${cpu}` : cpu;
  return { key: `${label} @ ${context.host ?? ''}`, label };
}

export interface Entry extends ReportSweep {
  machine: Machine;
  runs: Run[];
  valid: number;
}

export function entriesOf(report: Report, model: string): Entry[] {
  return report.sweeps.flatMap((entry) => {
    const runs = entry.sweep.runs.filter((run) => run.model === model);
    if (!runs.length) return [];
    return [{ ...entry, machine: machineOf(entry.sweep), runs, valid: runs.filter((run) => run.verdict.valid).length }];
  });
}

const newerFirst = (a: Entry, b: Entry) => (b.sweep.context.date ?? '').localeCompare(a.sweep.context.date ?? '');

/// The sweep that says most: valid runs first, then all runs, then the newest.
export function best(entries: Entry[]): Entry | undefined {
  return [...entries].sort((a, b) => b.valid - a.valid || b.runs.length - a.runs.length || newerFirst(a, b))[0];
}

export interface Choice {
  machines: Machine[];
  machine: string;
  sweeps: Entry[];
  sweep: string;
  shown: Entry[];
}

/// The sweep for which the query asks, and else the best sweep of the machine with the best sweep.
export function choose(entries: Entry[], query: URLSearchParams): Choice {
  const machines = [...new Map(entries.map(({ machine }) => [machine.key, machine])).values()];
  const asked = query.get('machine') ?? '';
  const fallback = entries.find((entry) => entry.id === query.get('sweep')) ?? best(entries);
  const machine = asked === ALL || machines.some(({ key }) => key === asked) ? asked : (fallback?.machine.key ?? '');
  const sweeps = entries.filter((entry) => machine === ALL || entry.machine.key === machine).sort(newerFirst);
  const one = sweeps.find((entry) => entry.id === query.get('sweep'));
  if (query.get('sweep') === ALL) return { machines, machine, sweeps, sweep: ALL, shown: sweeps };
  if (one) return { machines, machine, sweeps, sweep: one.id, shown: [one] };
  const shown = machines.flatMap(({ key }) => best(sweeps.filter((entry) => entry.machine.key === key)) ?? []);
  return { machines, machine, sweeps, sweep: '', shown };
}
