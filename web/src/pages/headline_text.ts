// The one sentence about a model that somebody without time reads: which system was fastest, and how sure that is.
import type { Report } from '../data/document';
import { finite, format, formatDate } from '../format';
import { plural } from '../text';
import type { Run } from '../schema';
import { best, entriesOf, machineOf } from './compare/select';

export interface Headline {
  sentence: string;
  /// "valid", or "not valid" and the first reason.
  verdict: string;
  valid: boolean;
  /// How and where it was measured, a line each.
  method: string[];
  /// Time as a share of the other system's; above 1 where it is slower.
  share: number;
  interval: readonly [number, number] | null;
  label: string;
  over: string;
}

const OWN = 'hone';
/// How far an interval is drawn, in lengths of the longer bar.
const MOST_DRAWN = 2;

/// The run with the highest throughput among those that are compared with another: of hone where it takes
/// part, else of all.
export function fastest(runs: Run[]): Run | undefined {
  const compared = runs.filter((run) => run.failure === null && (finite(run.speedup?.ratio) ?? 0) > 0);
  const own = compared.filter(({ backend }) => backend === OWN);
  const among = own.length ? own : compared;
  return [...among].sort((a, b) => (finite(b.throughput_per_s) ?? 0) - (finite(a.throughput_per_s) ?? 0))[0];
}

/// The interval as it is drawn: cut where it would leave no room for the bars.
export function shownInterval({ interval, share }: Headline): readonly [number, number] | null {
  const most = MOST_DRAWN * Math.max(1, share);
  return interval && [Math.min(interval[0], most), Math.min(interval[1], most)];
}

/// Nothing where no run of the model is compared with another system.
export function headlineOf(report: Report, model: string): Headline | null {
  const entry = best(entriesOf(report, model).filter(({ runs }) => fastest(runs)));
  const run = entry && fastest(entry.runs);
  const ratio = finite(run?.speedup?.ratio);
  if (!entry || !run?.speedup || ratio === null) return null;
  const [low, high] = [finite(run.speedup.interval?.[0]), finite(run.speedup.interval?.[1])];
  const interval = low !== null && high !== null ? ([low, high] as const) : null;
  const label = `${run.backend} ${run.precision}`;
  const over = `${run.speedup.over.backend} ${run.speedup.over.precision}`;
  const range = interval ? ` [${format(low, 'ratio')}, ${format(high, 'ratio')}]` : '';
  const error = finite(run.accuracy.relative_l2);
  const same = interval !== null && !run.speedup.differs;
  const sentence = same
    ? `${label} and ${over} do not differ by more than noise at batch ${run.batch}: ${format(ratio, 'ratio')}${range}`
    : `${label} is ${format(ratio, 'ratio')}${range} as fast as ${over} at batch ${run.batch}`;
  const context = entry.sweep.context;
  return {
    sentence: `${sentence}${error === null ? '' : `, error ${format(error, 'share')}`}.`,
    verdict: run.verdict.valid ? 'valid' : `not valid: ${run.verdict.reasons[0] ?? 'no reason is given'}`,
    valid: run.verdict.valid,
    method: [
      `${machineOf(entry.sweep).label}, ${formatDate(String(context.date ?? ''))}`,
      `Medians of ${plural(finite(run.latency_ms.n) ?? 0, 'run')}${run.speedup.interleaved ? '; the systems took turns' : '; the systems did not take turns'}; interval of 95 %${run.device === 'cpu' ? '' : run.includes_transfers ? '; with data transfers' : '; without data transfers'}.`,
    ],
    share: 1 / ratio,
    interval: interval && [1 / interval[1], 1 / interval[0]],
    label,
    over,
  };
}
