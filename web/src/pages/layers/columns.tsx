// The columns of a layer: in the table, and in the export of every figure of layers.
import { Interval } from '../../components/interval';
import type { Column } from '../../components/table';
import type { LayerRow } from './model';

const layer = (field: string) => ({ struct: 'Layer', field });
const MEDIAN = { struct: 'TimeSummary', field: 'median_ns' };

export const NAME: Column<LayerRow> = { key: 'name', of: layer('name'), value: (row) => row.name };
export const KIND: Column<LayerRow> = { key: 'kind', of: layer('kind'), value: (row) => row.kind };
export const MEDIAN_TIME: Column<LayerRow> = {
  key: 'median', title: 'Median', of: MEDIAN, bar: true, value: (row) => row.time.median_ns ?? null,
  hint: 'Of the times of all iterations, with the 95 % confidence interval of the median.',
  show: ({ time }) => <Interval value={time.median_ns} low={time.median_low_ns} high={time.median_high_ns} of={MEDIAN} />,
};
export const SHARE: Column<LayerRow> = {
  key: 'share', title: 'Share', unit: 'share', of: layer('time'), value: (row) => row.share,
  hint: 'Mean time of the layer by the mean sum of all layers.',
};
export const FLOPS: Column<LayerRow> = { key: 'flops', title: 'Work', of: layer('flops'), value: (row) => row.flops };
export const BYTES: Column<LayerRow> = { key: 'bytes', title: 'Bytes', of: layer('bytes'), value: (row) => row.bytes };
export const FLOPS_RATE: Column<LayerRow> = { key: 'flops_rate', title: 'FLOP/s', of: layer('flops_per_second'), value: (row) => row.flopsPerSecond };
export const BYTES_RATE: Column<LayerRow> = { key: 'bytes_rate', title: 'Bytes/s', of: layer('bytes_per_second'), value: (row) => row.bytesPerSecond };
export const FLOOR: Column<LayerRow> = { key: 'floor', of: layer('floor_ns'), value: (row) => row.floor };
export const HEADROOM: Column<LayerRow> = { key: 'headroom', title: 'Headroom', of: layer('over_floor'), value: (row) => row.headroom };

export const ORDER: Column<LayerRow> = { key: 'order', title: '#', unit: 'count', hint: 'Place in the order in which layers run.', value: (row) => row.index + 1 };

export const COLUMNS: Column<LayerRow>[] = [
  ORDER, NAME, KIND, MEDIAN_TIME, SHARE, HEADROOM, FLOOR, FLOPS_RATE, BYTES_RATE, FLOPS, BYTES,
  { key: 'tactic', of: layer('tactic'), value: (row) => row.tactic, code: true },
  { key: 'kernels', of: layer('kernels'), unit: 'count', value: (row) => row.kernels.length },
  { key: 'inputs', of: layer('inputs'), value: (row) => row.inputs.join(', '), code: true },
  { key: 'outputs', of: layer('outputs'), value: (row) => row.outputs.join(', '), code: true },
];

const ALWAYS = new Set(['order', 'name', 'median', 'share']);

/// Columns without a single value are left out.
export const columnsOf = (rows: LayerRow[]): Column<LayerRow>[] =>
  COLUMNS.filter((column) => ALWAYS.has(column.key) || rows.some((row) => column.value(row)));
