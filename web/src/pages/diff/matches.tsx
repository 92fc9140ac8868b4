// Layers of both sides that compute the same nodes of the model.
import { Interval } from '../../components/interval';
import { Table, type Column } from '../../components/table';
import { finite } from '../../format';
import { setQuery } from '../../route';
import type { Estimate } from '../../schema';
import { rangeOf } from './head';
import type { Match } from './model';
import { signed } from './waterfall';

const field = (name: string) => ({ struct: 'MatchedLayers', field: name });
const MEAN = { struct: 'Estimate', field: 'mean_ns' };

function Time({ time }: { time: Partial<Estimate> }) {
  const range = rangeOf(time);
  return <Interval value={time.mean_ns} low={range?.[0]} high={range?.[1]} of={MEAN} />;
}

const timeColumn = (key: string, title: string, timeOf: (match: Match) => Partial<Estimate>, name: string): Column<Match> =>
  ({ key, title, of: field(name), hint: 'Mean, with its 95 % confidence interval.', value: (match) => timeOf(match).mean_ns ?? null, show: (match) => <Time time={timeOf(match)} /> });

function Change({ change, certain }: Match) {
  if (change === null) return <span class="muted">–</span>;
  return <span class={certain ? (change < 0 ? 'verdict valid' : 'verdict failed') : 'muted'}>{signed(change)}</span>;
}

export const COLUMNS: Column<Match>[] = [
  { key: 'a', title: 'Layers of A', of: field('a'), value: ({ a }) => a.join(', ') },
  { key: 'b', title: 'Layers of B', of: field('b'), value: ({ b }) => b.join(', ') },
  { key: 'change', title: 'Change', of: field('change_ns'), value: ({ change }) => change, show: (match) => <Change {...match} /> },
  { key: 'certain', title: 'Certainty', of: field('certain'), value: ({ certain }) => (certain ? 'certain' : 'noise') },
  timeColumn('time_a', 'Time in A', ({ timeA }) => timeA, 'time_a'),
  timeColumn('time_b', 'Time in B', ({ timeB }) => timeB, 'time_b'),
  { key: 'kernels_a', title: 'Kernels of A', of: field('kernels_a'), unit: 'count', value: ({ kernelsA }) => kernelsA.length },
  { key: 'kernels_b', title: 'Kernels of B', of: field('kernels_b'), unit: 'count', value: ({ kernelsB }) => kernelsB.length },
];

export function MatchTable({ matches, selected }: { matches: Match[]; selected: string | null }) {
  const certain = matches.filter((match) => match.certain && finite(match.change) !== null).length;
  return (
    <section>
      <h2>Layers</h2>
      <p class="muted">{certain} of {matches.length} changes are certain; the others are within the noise of the iterations.</p>
      <Table caption="Matched layers" columns={COLUMNS} rows={matches} rowKey={({ key }) => key} selected={selected} onSelect={(sel) => setQuery({ sel })} />
    </section>
  );
}
