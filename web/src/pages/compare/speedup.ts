// How much faster a run is than another of the same sweep and batch.
import { finite } from '../../format';
import type { Run } from '../../schema';
import type { Line } from './lines';

export interface Baseline {
  backend: string;
  precision: string;
}

export interface Compared {
  ratio: number;
  /// Null where the sweep compared neither of the two with the other.
  interval: readonly [number, number] | null;
  differs: boolean | null;
  interleaved: boolean;
}

export const baselineId = ({ backend, precision }: Baseline): string => `${backend} ${precision}`;
const same = (a: Baseline, b: Baseline) => a.backend === b.backend && a.precision === b.precision;

export function baselinesOf(lines: Line[]): Baseline[] {
  return [...new Map(lines.map(({ backend, precision }) => [baselineId({ backend, precision }), { backend, precision }])).values()];
}

/// What the sweeps themselves compared with.
export function ownBaseline(lines: Line[]): Baseline | undefined {
  return lines.flatMap(({ runs }) => runs.flatMap((run) => run.speedup?.over ?? []))[0] ?? baselinesOf(lines)[0];
}

function stated(run: Run, inverted: boolean): Compared | null {
  const ratio = finite(run.speedup?.ratio);
  if (!run.speedup || ratio === null || ratio <= 0) return null;
  const [low, high] = [finite(run.speedup.interval?.[0]), finite(run.speedup.interval?.[1])];
  const known = low !== null && high !== null && low > 0;
  const interval = !known ? null : inverted ? ([1 / high, 1 / low] as const) : ([low, high] as const);
  return { ratio: inverted ? 1 / ratio : ratio, interval, differs: run.speedup.differs === true, interleaved: run.speedup.interleaved === true };
}

/// Over the baseline: what the sweep says, the same turned around, or only the medians.
export function compare(line: Line, run: Run, over: Baseline): Compared | 'baseline' | null {
  if (same(line, over)) return 'baseline';
  const base = line.entry.runs.find((one) => same(one, over) && one.batch === run.batch && one.includes_transfers === run.includes_transfers);
  if (!base) return null;
  if (run.speedup && same(run.speedup.over, over)) return stated(run, false);
  if (base.speedup && same(base.speedup.over, line)) return stated(base, true);
  const [slow, fast] = [finite(base.latency_ms.p50), finite(run.latency_ms.p50)];
  return slow && fast ? { ratio: slow / fast, interval: null, differs: null, interleaved: false } : null;
}
