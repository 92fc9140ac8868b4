// How much faster a run is than another of the same sweep and batch.
import { finite } from '../../format';
import type { Run, Speedup } from '../../schema';
import { comparable } from './comparable';
import type { Line } from './lines';

export interface Baseline {
  backend: string;
  precision: string;
}

export interface Compared {
  ratio: number;
  /// Null where too little was measured.
  interval: readonly [number, number] | null;
  differs: boolean | null;
  interleaved: boolean;
}

export const baselineId = ({ backend, precision }: Baseline): string => `${backend} ${precision}`;
const same = (a: Baseline, b: Baseline) => a.backend === b.backend && a.precision === b.precision;

export function baselinesOf(lines: Line[]): Baseline[] {
  return [...new Map(lines.map(({ backend, precision }) => [baselineId({ backend, precision }), { backend, precision }])).values()];
}

/// The baseline with which the sweeps themselves compared.
export function ownBaseline(lines: Line[]): Baseline | undefined {
  return lines.flatMap(({ runs }) => runs.flatMap((run) => run.speedup?.over ?? []))[0] ?? baselinesOf(lines)[0];
}

function stated(speedup: Speedup, inverted: boolean): Compared | null {
  const ratio = finite(speedup.ratio);
  if (ratio === null || ratio <= 0) return null;
  const [low, high] = [finite(speedup.interval?.[0]), finite(speedup.interval?.[1])];
  const known = low !== null && high !== null && low > 0;
  const interval = !known ? null : inverted ? ([1 / high, 1 / low] as const) : ([low, high] as const);
  return { ratio: inverted ? 1 / ratio : ratio, interval, differs: speedup.differs === true, interleaved: speedup.interleaved === true };
}

/// The program's comparison of the two, whichever way round.
function paired({ entry }: Line, run: Run, base: Run): Compared | null {
  const alike = entry.pairs.filter((pair) => comparable(pair, run, { system: true }));
  const [direct, turned] = [[run, base], [base, run]].map(([one, other]) => alike.find((pair) => same(pair, one!) && same(pair.speedup.over, other!)));
  return direct ? stated(direct.speedup, false) : turned ? stated(turned.speedup, true) : null;
}

/// Over the baseline: what the sweep says, the same turned around, what the program found since, or only the medians.
export function compare(line: Line, run: Run, over: Baseline): Compared | 'baseline' | null {
  if (same(line, over)) return 'baseline';
  const base = line.entry.runs.find((one) => same(one, over) && comparable(one, run, { system: true }));
  if (!base) return null;
  if (run.speedup && same(run.speedup.over, over)) return stated(run.speedup, false);
  if (base.speedup && same(base.speedup.over, line)) return stated(base.speedup, true);
  const found = paired(line, run, base);
  if (found) return found;
  const [slow, fast] = [finite(base.latency_ms.p50), finite(run.latency_ms.p50)];
  return slow && fast ? { ratio: slow / fast, interval: null, differs: null, interleaved: false } : null;
}
