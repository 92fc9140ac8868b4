// How long each layer takes, and how much that varies: a box for each, in the order in which they run.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart, type ChartPick } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { zoomAlong } from '../../components/chart_zoom';
import type { Column } from '../../components/table';
import { Tabs } from '../../components/tabs';
import { finite, format, formatRange, formatTick } from '../../format';
import { setQuery } from '../../route';
import type { TimeSummary } from '../../schema';
import { clip } from '../../text';
import { NAME } from './columns';
import { kindName, type LayerRow } from './model';

const SCALES = [{ id: 'linear', label: 'Linear' }, { id: 'log', label: 'Log' }];
const FIVE = ['min_ns', 'p25_ns', 'median_ns', 'p75_ns', 'max_ns'] as const satisfies (keyof TimeSummary)[];
/// More boxes than this get a slider.
const MANY = 40;

interface BoxItem {
  value: number[];
  row: LayerRow;
}

const COLUMNS: Column<LayerRow>[] = [
  NAME,
  ...FIVE.map((field): Column<LayerRow> => ({ key: field, of: { struct: 'TimeSummary', field }, value: (row) => row.time[field] ?? null })),
  { key: 'n', title: 'Iterations', of: { struct: 'TimeSummary', field: 'n' }, value: (row) => row.time.n ?? null },
];

function boxesOf(rows: LayerRow[], log: boolean): (BoxItem | { value: '-'[] })[] {
  return rows.map((row) => {
    const five = FIVE.map((field) => finite(row.time[field]));
    if (five.some((value) => value === null)) return { value: ['-', '-', '-', '-', '-'] };
    // A scale of logarithms has no 0; the clock has nothing between it and 1 ns.
    return { row, value: five.map((value) => (log ? Math.max(1, value!) : value!)) };
  });
}

function tooltip(data: unknown): HTMLElement | string {
  const { row } = data as BoxItem;
  if (!row) return '';
  const { time } = row;
  return tip(row.name, [
    ['kind', kindName(row.kind)],
    ...FIVE.map((field) => [field.replace('_ns', ''), format(time[field], 'ns')] as const),
    ['95 % of the median', formatRange(time.median_low_ns, time.median_high_ns, 'ns')],
    ['iterations', format(time.n, 'count')],
  ]);
}

export function boxOption(rows: LayerRow[], selected: string | null, log: boolean, of: Look) {
  const many = rows.length > MANY;
  const style = (row?: LayerRow) => (row && row.key === selected
    ? { color: of.accent, borderColor: of.accent, borderWidth: 2 } : { color: `${of.series[0]}40`, borderColor: of.series[0], borderWidth: 1.25 });
  return {
    tooltip: { trigger: 'item', formatter: (params: { data: unknown }) => tooltip(params.data) },
    xAxis: axis(of, {
      type: 'category', data: rows.map((row) => String(row.index + 1)), name: 'layer, in the order in which they run', nameLocation: 'middle', nameGap: 26,
      nameTextStyle: { color: of.muted }, splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: of.line } },
    }),
    yAxis: axis(of, { type: log ? 'log' : 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    grid: { top: 14, bottom: many ? 58 : 30 },
    ...(many ? { dataZoom: zoomAlong(of) } : {}),
    series: [{
      type: 'boxplot', name: 'Layers', boxWidth: [2, 26],
      data: boxesOf(rows, log).map((item) => ({ ...item, itemStyle: style('row' in item ? item.row : undefined) })),
    }],
  };
}

export function LatencyFigure({ rows, selected, log }: { rows: LayerRow[]; selected: string | null; log: boolean }) {
  const option = useCallback((of: Look) => boxOption(rows, selected, log, of), [rows, selected, log]);
  const data = useMemo(() => ({ columns: COLUMNS, rows }), [rows]);
  const pick = useCallback(({ data: item }: ChartPick) => setQuery({ sel: (item as BoxItem).row?.key ?? null }), []);
  const named = clip(rows.find((row) => row.key === selected)?.name ?? '', 60);
  return (
    <Chart title="Latency of layers" option={option} data={data} onPick={pick} height={320}
      description={`A box for each of ${rows.length} layers: shortest, quarter, median, three quarters and longest time of its iterations.${named && ` Selected: ${named}.`}`}
      tools={<Tabs label="Scale" choices={SCALES} value={log ? 'log' : 'linear'} onChange={(id) => setQuery({ scale: id === 'log' ? 'log' : null })} />} />
  );
}
