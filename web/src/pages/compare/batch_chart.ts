// Options of the charts against the batch: lines, or bars side by side, with their spread as whiskers.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { describe } from '../../data/fields';
import { format, formatRange, formatTick } from '../../format';
import type { Run } from '../../schema';
import { batchesOf, colourOf, dashOf, stateOf, symbolOf, type Line } from './lines';
import type { Metric, Spread } from './metrics';

export interface BatchView {
  lines: Line[];
  metric: Metric;
  spread?: Spread;
  bars: boolean;
  log: boolean;
}

interface Point {
  /// Place of the batch on the axis, and the figure.
  value: [number, number];
  run: Run;
}

const LAYOUT = { barGap: '8%', barCategoryGap: '28%' };
const CAP = 3;

function pointsOf(line: Line, view: BatchView, batches: number[]): Point[] {
  return line.runs.flatMap((run) => {
    const [x, y] = [batches.indexOf(run.batch), view.metric.value(run)];
    return x < 0 || y === null || (view.log && y <= 0) ? [] : [{ value: [x, y] as [number, number], run }];
  });
}

function itemStyle(point: Point, colour: string, of: Look, bars: boolean) {
  const valid = stateOf(point.run) === 'valid';
  if (bars) return valid ? { color: colour } : { color: of.surface, borderColor: colour, borderWidth: 1.5, borderType: 'dashed' };
  return { color: valid ? colour : of.surface, borderColor: colour, borderWidth: 2 };
}

function whiskers(line: Line, view: BatchView, batches: number[], of: Look, i: number) {
  const data = pointsOf(line, view, batches).flatMap(({ value, run }) => {
    const range = view.spread?.range(run);
    return range ? [[value[0], ...range]] : [];
  });
  const renderItem = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const offset = view.bars ? (api.barLayout?.({ ...LAYOUT, barMaxWidth: 36, count: view.lines.length } as never)?.[i]?.offsetCenter ?? 0) : 0;
    const at = (n: number) => api.coord([api.value(0), api.value(n)]) as [number, number];
    const [x, low] = at(1);
    const high = at(2)[1];
    const stroke = (x1: number, y1: number, x2: number, y2: number) =>
      ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style: { stroke: view.bars ? of.text : colourOf(line, of), lineWidth: 1.25 } });
    const c = x + offset;
    return { type: 'group' as const, children: [stroke(c, low, c, high), stroke(c - CAP, low, c + CAP, low), stroke(c - CAP, high, c + CAP, high)] };
  };
  return { type: 'custom', name: line.name, data, renderItem, silent: true, z: 1, tooltip: { show: false }, dimensions: ['batch', 'low', 'high'], encode: { x: 0, y: [1, 2] } };
}

function seriesOf(line: Line, view: BatchView, batches: number[], of: Look) {
  const colour = colourOf(line, of);
  const data = pointsOf(line, view, batches).map((point) => ({ ...point, itemStyle: itemStyle(point, colour, of, view.bars) }));
  if (view.bars) return { type: 'bar', name: line.name, data, itemStyle: { color: colour }, barMaxWidth: 36, ...LAYOUT };
  return { type: 'line', name: line.name, data, symbol: symbolOf(line), symbolSize: 8, showSymbol: true, lineStyle: { color: colour, width: 1.75, type: dashOf(line) }, itemStyle: { color: colour }, z: 2 };
}

function tooltip(view: BatchView, params: { seriesName?: string; data: unknown }): HTMLElement {
  const { run } = params.data as Point;
  const { unit } = describe(view.metric.of);
  const range = view.spread?.range(run);
  const lines: [string, string][] = [['batch', String(run.batch)], [view.metric.label.toLowerCase(), format(view.metric.value(run), unit)]];
  if (range && view.spread) lines.push([view.spread.label, formatRange(...range, unit)]);
  lines.push(['samples', format(run.latency_ms.n, 'count')]);
  return tip(params.seriesName, lines, stateOf(run) === 'valid' ? [] : ['invalid:', ...run.verdict.reasons]);
}

export function batchOption(view: BatchView, of: Look) {
  const batches = batchesOf(view.lines);
  const { unit } = describe(view.metric.of);
  return {
    tooltip: { trigger: 'item', formatter: (params: never) => tooltip(view, params) },
    xAxis: axis(of, { type: 'category', data: batches.map(String), name: 'batch', nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: of.muted }, splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: of.line } } }),
    yAxis: axis(of, { type: view.log ? 'log' : 'value', axisLabel: { formatter: (value: number) => formatTick(value, unit) } }),
    grid: { top: 14, bottom: 30 },
    series: [
      ...view.lines.map((line) => seriesOf(line, view, batches, of)),
      ...(view.spread ? view.lines.map((line, i) => whiskers(line, view, batches, of, i)) : []),
    ],
  };
}
