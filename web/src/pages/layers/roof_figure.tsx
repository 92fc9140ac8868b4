// Work by byte against work by second, below what the device can do.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart, type ChartPick } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { Note } from '../../components/note';
import type { Column } from '../../components/table';
import { format, formatTick } from '../../format';
import { setQuery } from '../../route';
import { colourOf, symbolOf } from './colours';
import { BYTES, FLOOR, FLOPS, FLOPS_RATE, HEADROOM, KIND, MEDIAN_TIME, NAME } from './columns';
import { kindName, meanOf, type LayerRow } from './model';
import { roofOf, ROOF_HINT, type Roof } from './roof';

interface Point {
  value: [number, number];
  row: LayerRow;
}

const intensity = ({ flops, bytes }: LayerRow): number | null => (flops && bytes ? flops / bytes : null);
const placed = (row: LayerRow): boolean => intensity(row) !== null && row.flopsPerSecond !== null;

const COLUMNS: Column<LayerRow>[] = [
  NAME, KIND,
  { key: 'intensity', title: 'Intensity', unit: 'FLOP/B', hint: 'Arithmetic work by bytes, both estimated.', value: intensity },
  FLOPS_RATE, MEDIAN_TIME, FLOPS, BYTES, FLOOR, HEADROOM,
];

/// Area is time.
function sizeOf(row: LayerRow, longest: number): number {
  return 6 + 20 * Math.sqrt(longest > 0 ? meanOf(row) / longest : 0);
}

function roofLine(roof: Roof, from: number, to: number): [number, number][] {
  const at = (x: number): [number, number] => [x, Math.min(roof.flopsPerSecond, x * roof.bytesPerSecond)];
  return [from, roof.ridge, to].sort((a, b) => a - b).map(at);
}

function tooltip({ data }: { data: unknown }): HTMLElement | string {
  const { row } = data as Point;
  if (!row) return '';
  return tip(row.name, [
    ['kind', kindName(row.kind)], ['intensity', format(intensity(row), 'FLOP/B')], ['work by second', format(row.flopsPerSecond, 'flop/s')],
    ['median', format(row.time.median_ns, 'ns')], ['floor', format(row.floor, 'ns')], ['headroom', format(row.headroom, 'ratio')],
  ]);
}

function roofSeries(roof: Roof, from: number, to: number, of: Look) {
  const line = roofLine(roof, from, to);
  const label = (text: string, align: string, offset: number[]) => ({ show: true, formatter: text, position: 'top', align, offset, color: of.muted, fontSize: 11 });
  return {
    type: 'line', name: 'Roof', silent: true, symbol: 'circle', symbolSize: 1, lineStyle: { color: of.muted, width: 1.5, type: 'dashed' }, itemStyle: { color: of.muted }, z: 1,
    tooltip: { show: false },
    data: [
      { value: line[0], label: label(`${format(roof.bytesPerSecond, 'bytes/s')} (estimated)`, 'left', [8, 26]) },
      line[1],
      { value: line[2], label: label(`${format(roof.flopsPerSecond, 'flop/s')} (estimated)`, 'right', [0, 0]) },
    ],
  };
}

export function roofOption(rows: LayerRow[], kinds: string[], selected: string | null, of: Look) {
  const roof = roofOf(rows);
  const xs = [...rows.map((row) => intensity(row)!), ...(roof ? [roof.ridge] : [])];
  const [from, to] = [Math.min(...xs) / 2, Math.max(...xs) * 4];
  const longest = Math.max(...rows.map(meanOf));
  const pointOf = (row: LayerRow) => ({
    value: [intensity(row)!, row.flopsPerSecond!], row, symbolSize: sizeOf(row, longest),
    itemStyle: row.key === selected ? { opacity: 1, borderColor: of.text, borderWidth: 2.5 } : { opacity: 0.6, borderColor: of.surface, borderWidth: 1 },
  });
  return {
    tooltip: { trigger: 'item', formatter: tooltip },
    xAxis: axis(of, {
      type: 'log', min: from, max: to, name: 'FLOP by byte', nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: of.muted }, splitLine: { show: false },
      axisLine: { show: true, lineStyle: { color: of.line } }, axisLabel: { formatter: (value: number) => formatTick(value, ''), showMinLabel: false, showMaxLabel: false },
    }),
    yAxis: axis(of, { type: 'log', axisLabel: { formatter: (value: number) => formatTick(value, 'flop/s') } }),
    grid: { top: 26, bottom: 30, right: 28 },
    series: [
      ...kinds.map((kind) => ({
        type: 'scatter', name: kindName(kind), symbol: symbolOf(kind, kinds), itemStyle: { color: colourOf(kind, kinds, of) }, z: 2,
        data: rows.filter((row) => row.kind === kind).map(pointOf),
      })),
      ...(roof ? [roofSeries(roof, from, to, of)] : []),
    ],
  };
}

export function RoofFigure({ rows: all, kinds, selected }: { rows: LayerRow[]; kinds: string[]; selected: string | null }) {
  const rows = useMemo(() => all.filter(placed), [all]);
  const option = useCallback((of: Look) => roofOption(rows, kinds, selected, of), [rows, kinds, selected]);
  const data = useMemo(() => ({ columns: COLUMNS, rows }), [rows]);
  const pick = useCallback(({ data: item }: ChartPick) => setQuery({ sel: (item as Point).row?.key ?? null }), []);
  if (!rows.length) return null;
  const roof = roofOf(rows);
  return (
    <div>
      <Chart title="Roofline" option={option} data={data} onPick={pick} height={360}
        description={`${rows.length} layers by arithmetic intensity and work by second, on logarithmic scales; larger marks take more time.`} />
      {roof
        ? <p class="said" tabIndex={0} data-hint={ROOF_HINT}>○ Roof: {format(roof.bytesPerSecond, 'bytes/s')} and {format(roof.flopsPerSecond, 'flop/s')}, estimated from the floors of layers. The area of a mark is its time.</p>
        : <Note><p>No roof: the trace holds no peak rates of the device, so layers have no floor.</p></Note>}
    </div>
  );
}
