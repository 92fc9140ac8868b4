// Iterations of both sides one after the other, and whether they drift.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import { axis, DASHES, SYMBOLS, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { Figure } from '../../components/figure';
import type { Column } from '../../components/table';
import type { Profile } from '../../data/document';
import { dict, dicts } from '../../data/safe';
import { finite, format, formatRange, formatTick } from '../../format';
import type { Analysis, Step, StepBreakdown, TraceDiff, Trend } from '../../schema';

interface Iteration {
  side: 'A' | 'B';
  at: number;
  time: number;
}

const COLUMNS: Column<Iteration>[] = [
  { key: 'side', title: 'Side', value: ({ side }) => side },
  { key: 'at', title: 'Iteration', unit: 'count', value: ({ at }) => at },
  { key: 'time', title: 'Time', unit: 'ns', hint: 'From begin to end as the host announced it. Origin: measured.', value: ({ time }) => time },
];

export function iterationsOf(side: 'A' | 'B', profile: Profile | null): Iteration[] {
  const breakdown = dict<StepBreakdown>(dict<Analysis>(profile?.analysis).steps);
  return dicts<Step>(breakdown.steps).flatMap((step, i) => {
    const [from, to] = [finite(step.host_start_ns), finite(step.host_end_ns)];
    return from === null || to === null || to < from ? [] : [{ side, at: i + 1, time: to - from }];
  });
}

const middle = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/// Through the median of places and the median of times, as the slope is one of medians.
function trendLine(all: Iteration[], slope: number): [number, number][] {
  const [at, time] = [middle(all.map((one) => one.at)), middle(all.map((one) => one.time))];
  const ends = [all[0]!.at, all[all.length - 1]!.at];
  return ends.map((end) => [end, time + (end - at) * slope]);
}

function seriesOf(all: Iteration[], side: 'A' | 'B', trend: Partial<Trend>, of: Look) {
  const i = side === 'A' ? 0 : 1;
  const colour = of.series[i];
  const slope = finite(trend.slope);
  return [
    { type: 'line', name: side, data: all.map((one) => ({ value: [one.at, one.time], one })), symbol: SYMBOLS[i], symbolSize: 8, showSymbol: true, itemStyle: { color: colour }, lineStyle: { color: colour, width: 1, opacity: 0.5 } },
    ...(slope !== null && all.length > 1
      ? [{ type: 'line', name: `${side}, trend`, silent: true, symbol: 'none', data: trendLine(all, slope), lineStyle: { color: colour, width: 2, type: DASHES[1] }, tooltip: { show: false } }] : []),
  ];
}

interface Sides {
  a: Iteration[];
  b: Iteration[];
  trends: { A: Partial<Trend>; B: Partial<Trend> };
}

function iterationOption({ a, b, trends }: Sides, of: Look) {
  return {
    tooltip: {
      trigger: 'item',
      formatter: ({ data }: { data: { one?: Iteration } }) => (data.one ? tip(`${data.one.side}, iteration ${data.one.at}`, [['time', format(data.one.time, 'ns')]]) : ''),
    },
    xAxis: axis(of, { type: 'value', min: 1, minInterval: 1, name: 'iteration', nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: of.muted }, splitLine: { show: false } }),
    yAxis: axis(of, { type: 'value', min: 0, axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    grid: { top: 14, bottom: 30 },
    series: [...(a.length ? seriesOf(a, 'A', trends.A, of) : []), ...(b.length ? seriesOf(b, 'B', trends.B, of) : [])],
  };
}

function TrendFigure({ side, trend }: { side: 'A' | 'B'; trend: Partial<Trend> }) {
  if (finite(trend.slope) === null) return <div class="labelled"><span class="label">Trend of {side}</span><span class="muted">too few iterations</span></div>;
  const range = formatRange(trend.low, trend.high, 'ns');
  return (
    <div>
      <Figure label={`Trend of ${side}, by iteration`} value={trend.slope} of={{ struct: 'Trend', field: 'slope' }} hint={`95 % confidence interval: ${range}.`} />
      <p class="muted">{trend.certain === true ? `drifts (${range})` : `no drift (${range})`}</p>
    </div>
  );
}

export function Iterations({ diff, a, b }: { diff: Partial<TraceDiff>; a: Profile | null; b: Profile | null }) {
  const sides: Sides = useMemo(() => ({
    a: iterationsOf('A', a), b: iterationsOf('B', b), trends: { A: dict<Trend>(diff.trend_a_ns), B: dict<Trend>(diff.trend_b_ns) },
  }), [diff, a, b]);
  const option = useCallback((of: Look) => iterationOption(sides, of), [sides]);
  const rows = useMemo(() => [...sides.a, ...sides.b], [sides]);
  const data = useMemo(() => ({ columns: COLUMNS, rows }), [rows]);
  return (
    <section>
      <h2>Iterations</h2>
      <div class="figures"><TrendFigure side="A" trend={sides.trends.A} /><TrendFigure side="B" trend={sides.trends.B} /></div>
      {rows.length > 0
        ? <Chart title="Time of iterations" option={option} data={data} description={`${sides.a.length} iterations of A and ${sides.b.length} of B in the order in which they ran.`}
            tools={<ul class="keys"><li><i class="swatch s0" /> A (circles)</li><li><i class="swatch s1" /> B (squares)</li></ul>} />
        : <p class="muted">The profiles of this comparison are not in the document, so there are no single iterations.</p>}
    </section>
  );
}
