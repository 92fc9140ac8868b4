// The difference as it grows from layer to layer of A.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart, type ChartPick } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { zoomAlong } from '../../components/chart_zoom';
import type { Column } from '../../components/table';
import { format, formatTick } from '../../format';
import { setQuery } from '../../route';
import { nameOf, sumsOf, type Match, type Sum } from './model';
import { signed } from './waterfall';

const MANY = 60;
const COLUMNS: Column<Sum>[] = [
  { key: 'at', title: '#', unit: 'count', value: ({ at }) => at },
  { key: 'name', title: 'Layers', value: ({ match }) => nameOf(match) },
  { key: 'change', title: 'Change', of: { struct: 'MatchedLayers', field: 'change_ns' }, value: ({ match }) => match.change },
  { key: 'sum', title: 'Until here', unit: 'ns', hint: 'Changes of all layers until this one, added up.', value: ({ sum }) => sum },
];

function runningOption(sums: Sum[], selected: string | null, of: Look) {
  const many = sums.length > MANY;
  const pointOf = (one: Sum) => {
    const chosen = one.match.key === selected;
    return { value: one.sum, one, symbolSize: chosen ? 11 : 6, itemStyle: { color: one.match.certain ? of.series[0] : of.surface, borderColor: chosen ? of.text : of.series[0], borderWidth: chosen ? 2.5 : 1.5 } };
  };
  return {
    tooltip: {
      trigger: 'item',
      formatter: ({ data }: { data: { one?: Sum } }) => (data.one
        ? tip(nameOf(data.one.match), [['change', data.one.match.change === null ? format(null, '') : signed(data.one.match.change)], ['until here', signed(data.one.sum)], ['certainty', data.one.match.certain ? 'certain' : 'noise']]) : ''),
    },
    xAxis: axis(of, { type: 'category', data: sums.map(({ at }) => String(at)), name: 'layer, in the order in which A runs them', nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: of.muted }, splitLine: { show: false }, axisLine: { show: true, onZero: true, lineStyle: { color: of.muted } }, axisLabel: { margin: 10 } }),
    yAxis: axis(of, { type: 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    grid: { top: 14, bottom: many ? 58 : 30 },
    ...(many ? { dataZoom: zoomAlong(of) } : {}),
    series: [{ type: 'line', name: 'Difference', step: 'middle', data: sums.map(pointOf), symbol: 'circle', showSymbol: true, lineStyle: { color: of.series[0], width: 1.75 } }],
  };
}

export function Running({ ordered, selected }: { ordered: Match[]; selected: string | null }) {
  const sums = useMemo(() => sumsOf(ordered), [ordered]);
  const option = useCallback((of: Look) => runningOption(sums, selected, of), [sums, selected]);
  const data = useMemo(() => ({ columns: COLUMNS, rows: sums }), [sums]);
  const pick = useCallback(({ data: item }: ChartPick) => setQuery({ sel: (item as { one?: Sum }).one?.match.key ?? null }), []);
  return (
    <div class="group">
      <Chart title="Difference, layer by layer" option={option} data={data} onPick={pick}
        description={`Changes of ${sums.length} matches of layers added up; together ${signed(sums[sums.length - 1]?.sum ?? 0)}. Hollow points are within the noise.`} />
    </div>
  );
}
