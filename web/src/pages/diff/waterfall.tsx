// From A's iteration to B's, change by change.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { Note } from '../../components/note';
import type { Column } from '../../components/table';
import { format, formatTick } from '../../format';
import type { TraceDiff } from '../../schema';
import { clip } from '../../text';
import { barsOf, gapOf, type Bar } from './model';

const CHANGE = { struct: 'WaterfallBar', field: 'change_ns' };
const COLUMNS: Column<Bar>[] = [
  { key: 'name', title: 'Part', of: { struct: 'WaterfallBar', field: 'name' }, value: ({ name, total }) => (total ? `iteration of ${name}` : name) },
  { key: 'change', title: 'Change', of: CHANGE, value: ({ from, to, total }) => (total ? null : to - from), show: (bar) => <>{bar.total ? '' : signed(bar.to - bar.from)}</> },
  { key: 'then', title: 'Iteration then', unit: 'ns', value: ({ to }) => to },
];

export const signed = (change: number): string => `${change > 0 ? '+' : change < 0 ? '−' : ''}${format(Math.abs(change), 'ns')}`;
const labelOf = ({ total, from, to }: Bar): string => (total ? format(to, 'ns') : signed(to - from));
const nameOf = ({ name, total }: Bar): string => (total ? `Iteration of ${name}` : name);
const colourOf = ({ total, from, to }: Bar, of: Look): string => (total ? of.series[6]! : to > from ? of.series[1]! : of.series[0]!);

interface Plot {
  x: number;
  width: number;
}

/// Room that a label needs.
const LABEL = 84;

function rectOf(bar: Bar, next: Bar | undefined, row: number, plot: Plot, api: CustomSeriesRenderItemAPI, of: Look) {
  const [left, y] = api.coord([Math.min(bar.from, bar.to), row]) as [number, number];
  const [right] = api.coord([Math.max(bar.from, bar.to), row]) as [number, number];
  const [end, below] = api.coord([bar.to, row + 1]) as [number, number];
  const high = Math.min(26, Math.abs(below - y) * 0.62);
  const shape = { x: left, y: y - high / 2, width: Math.max(1, right - left), height: high };
  const inside = right > plot.x + plot.width - LABEL;
  const label = inside ? { x: left - 6, textAlign: 'right' as const } : { x: right + 6, textAlign: 'left' as const };
  const roomy = !inside || left > plot.x + LABEL;
  return {
    type: 'group' as const,
    children: [
      { type: 'rect' as const, shape, style: { fill: colourOf(bar, of) } },
      ...(next ? [{ type: 'line' as const, shape: { x1: end, x2: end, y1: y + high / 2, y2: below - high / 2 }, style: { stroke: of.muted, lineWidth: 1 } }] : []),
      {
        type: 'text' as const,
        style: { text: labelOf(bar), fontSize: 12, fontFamily: of.font, textVerticalAlign: 'middle' as const, y, ...(roomy ? { ...label, fill: of.text } : { x: right - 6, textAlign: 'right' as const, fill: of.surface }) },
      },
    ],
  };
}

export function waterfallOption(bars: Bar[], of: Look) {
  const renderItem = ({ dataIndex, coordSys }: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) =>
    rectOf(bars[dataIndex]!, bars[dataIndex + 1], dataIndex, coordSys as unknown as Plot, api, of);
  return {
    tooltip: {
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const bar = bars[dataIndex]!;
        return tip(nameOf(bar), bar.total ? [['mean', format(bar.to, 'ns')]] : [['change', signed(bar.to - bar.from)], ['iteration then', format(bar.to, 'ns')]]);
      },
    },
    grid: { top: 8, bottom: 8, right: 24 },
    xAxis: axis(of, { type: 'value', min: Math.min(0, ...bars.map(({ to }) => to)), axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    yAxis: axis(of, { type: 'category', inverse: true, data: bars.map((bar) => clip(nameOf(bar), 100)), splitLine: { show: false }, axisLabel: { color: of.text, interval: 0, width: Math.min(280, innerWidth * 0.32), overflow: 'break', lineHeight: 14 } }),
    series: [{ type: 'custom', name: 'Waterfall', renderItem, data: bars.map(({ from, to }, i) => [from, to, i]), encode: { x: [0, 1], y: 2 } }],
  };
}

export function Waterfall({ diff }: { diff: Partial<TraceDiff> }) {
  const bars = useMemo(() => barsOf(diff), [diff]);
  const option = useCallback((of: Look) => waterfallOption(bars, of), [bars]);
  const data = useMemo(() => ({ columns: COLUMNS, rows: bars }), [bars]);
  const gap = gapOf(bars);
  if (!bars.length) return <p class="muted">The mean iteration of one side is not known.</p>;
  return (
    <div class="group">
      <Chart title="From A to B" option={option} data={data} height={40 + 44 * bars.length}
        description={`A begins with ${format(bars[0]!.to, 'ns')}; ${bars.length - 2} changes lead to ${format(bars[bars.length - 1]!.to, 'ns')} of B.`} />
      {gap !== 0 && <Note severity="doubt" title="The bars do not add up"><p>{format(Math.abs(gap), 'ns')} of the difference are in none of them.</p></Note>}
    </div>
  );
}
