// Accuracy against speed at one batch: no run left of and below a run on the front is both faster and closer.
import { useCallback, useMemo, useState } from 'preact/hooks';
import { Chart } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { Select } from '../../components/select';
import type { Column } from '../../components/table';
import { finite, format, formatTick, scientific } from '../../format';
import { batchesOf, colourOf, rowsOf, stateOf, symbolOf, type Line, type Row } from './lines';

const COLUMNS: Column<Row>[] = [
  { key: 'line', title: 'Line', value: ({ line }) => line.name },
  { key: 'batch', of: { struct: 'Run', field: 'batch' }, value: ({ run }) => run.batch },
  { key: 'latency', title: 'Latency', of: { struct: 'Times', field: 'p50' }, value: ({ run }) => run.latency_ms.p50 },
  { key: 'error', title: 'Relative L2 error', unit: '', of: { struct: 'Accuracy', field: 'relative_l2' }, value: ({ run }) => run.accuracy.relative_l2 },
  { key: 'top1', title: 'Same first choice', of: { struct: 'Accuracy', field: 'top1_agreement' }, value: ({ run }) => run.accuracy.top1_agreement },
];

/// More names than this would cover each other; the legend and the hints have them.
const LABELLED = 8;

interface Point {
  value: [number, number];
  row: Row;
}

/// An error of 0 has no place on a logarithmic axis: it stands at the lower edge.
function pointsOf(rows: Row[]): Point[] {
  const known = rows.filter(({ run }) => finite(run.latency_ms.p50) && finite(run.accuracy.relative_l2) !== null);
  const errors = known.map(({ run }) => run.accuracy.relative_l2!).filter((error) => error > 0);
  const edge = errors.length ? Math.min(...errors) / 10 : 1e-9;
  return known.map((row) => ({ value: [row.run.latency_ms.p50!, Math.max(row.run.accuracy.relative_l2!, edge)], row }));
}

/// There is no front across machines.
function frontOf(points: Point[]): [number, number][] {
  if (new Set(points.map(({ row }) => row.line.entry.machine.key)).size > 1) return [];
  let lowest = Infinity;
  const valid = points.filter(({ row }) => stateOf(row.run) === 'valid');
  return valid.sort((a, b) => a.value[0] - b.value[0] || a.value[1] - b.value[1])
    .flatMap(({ value }) => (value[1] < lowest ? ((lowest = value[1]), [value]) : []));
}

/// Above the point where a label to its right would run into the next one.
function labelPlaces(points: Point[]): Map<Point, 'top' | 'right'> {
  const order = [...points].sort((a, b) => a.value[0] - b.value[0]);
  const width = (order.at(-1)?.value[0] ?? 0) * 0.2;
  const near = (a: Point, b?: Point) => b && b.value[0] - a.value[0] < width && Math.abs(Math.log(b.value[1] / a.value[1])) < 0.25;
  return new Map(order.map((point, i) => [point, near(point, order[i + 1]) ? 'top' : 'right']));
}

/// The nearest of 1, 2 and 5 times a power of ten beyond the points.
function edges(points: Point[]): { min: number; max: number } {
  const all = points.map(({ value }) => value[1]);
  const steps = (from: number) => [1, 2, 5, 10].map((step) => step * 10 ** Math.floor(Math.log10(from)));
  const [low, high] = [Math.min(...all) / 1.2, Math.max(...all) * 1.2];
  return { min: steps(low).findLast((step) => step <= low)!, max: steps(high).find((step) => step >= high)! };
}

function optionOf(points: Point[], of: Look) {
  const say = ({ data }: { data: Point }) => {
    const { line, run } = data.row;
    const lines = [['latency', format(run.latency_ms.p50, 'ms')], ['relative L2 error', format(run.accuracy.relative_l2, '')], ['same first choice', format(run.accuracy.top1_agreement, 'share')]] as const;
    return tip(line.name, lines, stateOf(run) === 'valid' ? [] : run.verdict.reasons);
  };
  const places = labelPlaces(points);
  const label = { show: points.length <= LABELLED, distance: 7, color: of.text, fontSize: 11, formatter: '{a}' };
  return {
    tooltip: { trigger: 'item', formatter: say },
    xAxis: axis(of, { type: 'value', name: 'latency (p50)', nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: of.muted }, min: 0, boundaryGap: [0, '15%'], axisLabel: { formatter: (value: number) => formatTick(value, 'ms') } }),
    yAxis: axis(of, { type: 'log', ...edges(points), name: 'relative L2 error', axisLabel: { formatter: (value: number) => scientific(value) } }),
    grid: { top: 34, bottom: 30 },
    series: [
      ...points.map((point) => {
        const { line, run } = point.row;
        const colour = colourOf(line, of);
        const color = stateOf(run) === 'valid' ? colour : of.surface;
        return { type: 'scatter', name: line.name, data: [point], symbol: symbolOf(line), symbolSize: 11, itemStyle: { color, borderColor: colour, borderWidth: 2 }, label: { ...label, position: places.get(point) }, z: 3 };
      }),
      { type: 'line', name: 'front', data: frontOf(points), step: 'end', symbol: 'none', silent: true, lineStyle: { color: of.muted, width: 1, type: 'dashed' }, tooltip: { show: false } },
    ],
  };
}

export function AccuracyFigure({ lines }: { lines: Line[] }) {
  const batches = batchesOf(lines);
  const [chosen, setChosen] = useState('');
  const batch = batches.find((one) => String(one) === chosen) ?? batches[0];
  const rows = useMemo(() => rowsOf(lines).filter(({ run }) => run.batch === batch), [lines, batch]);
  const points = useMemo(() => pointsOf(rows), [rows]);
  const option = useCallback((of: Look) => optionOf(points, of), [points]);
  const data = useMemo(() => ({ columns: COLUMNS, rows }), [rows]);
  if (!points.length) return null;
  return (
    <Chart title="Accuracy against speed" description="Relative L2 error against the fp32 reference on a logarithmic axis against the median latency; to the left is faster, below is closer to the reference. The dashed line is the front of valid runs."
      option={option} data={data} height={320}
      tools={<Select label="Batch" choices={batches.map((one) => ({ id: String(one), label: String(one) }))} value={String(batch)} onChange={setChosen} />} />
  );
}
