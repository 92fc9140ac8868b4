// One figure against the batch, as lines or bars.
import { useCallback, useMemo, useState } from 'preact/hooks';
import { Chart } from '../../components/chart';
import type { Look } from '../../components/chart_look';
import { Select } from '../../components/select';
import type { Column } from '../../components/table';
import { Tabs } from '../../components/tabs';
import { batchOption, type BatchView } from './batch_chart';
import { batchesOf, rowsOf, stateOf, type Line, type Row } from './lines';
import type { Metric, Spread } from './metrics';

const SCALES = [{ id: 'linear', label: 'Linear' }, { id: 'log', label: 'Log' }];
const SHAPES = [{ id: 'lines', label: 'Lines' }, { id: 'bars', label: 'Bars' }];

function columnsOf(metric: Metric, spread?: Spread): Column<Row>[] {
  const bound = (key: string, title: string, i: 0 | 1): Column<Row> => ({
    key, title, unit: 'ms', value: ({ run }) => spread?.range(run)?.[i] ?? null, hint: spread?.label,
  });
  return [
    { key: 'line', title: 'Line', value: ({ line }) => line.name },
    { key: 'batch', of: { struct: 'Run', field: 'batch' }, value: ({ run }) => run.batch },
    { key: metric.id, title: metric.label, of: metric.of, value: ({ run }) => metric.value(run) },
    ...(spread ? [bound('low', 'From', 0), bound('high', 'To', 1)] : []),
    { key: 'verdict', title: 'Verdict', value: ({ run }) => stateOf(run) },
  ];
}

interface BatchFigureProps {
  lines: Line[];
  metrics: Metric[];
  spreads?: Spread[];
  /// Drawn first; few batches are better told apart as bars.
  bars?: boolean;
}

function spans(lines: Line[], metric: Metric): boolean {
  const values = rowsOf(lines).flatMap(({ run }) => metric.value(run) ?? []).filter((value) => value > 0);
  return values.length > 1 && Math.max(...values) > 20 * Math.min(...values);
}

export function BatchFigure({ lines, metrics, spreads, bars: first }: BatchFigureProps) {
  const [shape, setShape] = useState(first || batchesOf(lines).length < 2 ? 'bars' : 'lines');
  const [chosen, setChosen] = useState(metrics[0]!.id);
  const [log, setLog] = useState<boolean | null>(null);
  const [width, setWidth] = useState(spreads?.[0]?.id ?? '');
  const metric = metrics.find(({ id }) => id === chosen) ?? metrics[0]!;
  const spread = spreads?.find(({ id }) => id === width);
  const bars = shape === 'bars';
  const view: BatchView = useMemo(
    () => ({ lines, metric, spread, bars, log: !bars && (log ?? spans(lines, metric)) }), [lines, metric, spread, bars, log]);
  const option = useCallback((of: Look) => batchOption(view, of), [view]);
  const data = useMemo(() => ({ columns: columnsOf(metric, spread), rows: rowsOf(lines) }), [lines, metric, spread]);
  const scale = view.log ? ' The scale is logarithmic.' : '';
  return (
    <Chart title={metric.label} description={`${metric.label} against the batch, one ${bars ? 'bar' : 'line'} for each backend and precision.${scale}`}
      option={option} data={data}
      tools={<>
        {metrics.length > 1 && <Select label="Figure" quiet choices={metrics} value={metric.id} onChange={setChosen} />}
        {spreads && <Select label="Spread" choices={spreads} value={width} onChange={setWidth} />}
        <Tabs label="Drawn as" choices={SHAPES} value={shape} onChange={setShape} />
        {!bars && <Tabs label="Scale" choices={SCALES} value={view.log ? 'log' : 'linear'} onChange={(id) => setLog(id === 'log')} />}
      </>} />
  );
}
