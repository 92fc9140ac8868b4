// Hardware counters of each kernel: a row a kernel, a column a metric.
import { useMemo } from 'preact/hooks';
import { Name } from '../../components/name';
import { Table, type Column } from '../../components/table';
import { Value } from '../../components/value';
import { finite, format, formatRange, parts } from '../../format';
import type { KernelMetricRow } from '../../schema';
import { instanceName } from '../parts/short_name';

interface Kernel {
  key: string;
  name: string;
  device: unknown;
  launches: number;
  metrics: Map<string, KernelMetricRow>;
}

const MEAN = { struct: 'KernelMetricRow', field: 'mean' };

export const unitOf = (unit: unknown): string => (unit === 'B' ? 'bytes' : typeof unit === 'string' ? unit : '');

export function kernelsOf(rows: KernelMetricRow[]): Kernel[] {
  const kernels = new Map<string, Kernel>();
  for (const row of rows) {
    const [name, key] = [String(row.kernel ?? ''), `${row.device} ${row.kernel}`];
    const kernel = kernels.get(key) ?? { key, name, device: row.device, launches: 0, metrics: new Map() };
    kernel.launches = Math.max(kernel.launches, finite(row.invocations) ?? 0);
    kernel.metrics.set(String(row.metric), row);
    kernels.set(key, kernel);
  }
  return [...kernels.values()];
}

function Mean({ row }: { row: KernelMetricRow }) {
  const unit = unitOf(row.unit);
  const hint = `From ${formatRange(row.min, row.max, unit).replace('–', ' to ')} over ${format(row.invocations, 'count')} launches.`;
  return <span tabIndex={0} data-hint={hint} data-value={finite(row.mean) ?? undefined}><Value {...parts(row.mean, unit)} /></span>;
}

const DEVICE: Column<Kernel> = { key: 'device', title: 'GPU', of: { struct: 'KernelMetricRow', field: 'device' }, value: ({ device }) => device };

function columnsOf(rows: KernelMetricRow[]): Column<Kernel>[] {
  const units = new Map(rows.map((row) => [String(row.metric), unitOf(row.unit)]));
  const metrics = [...units].map(([metric, unit]): Column<Kernel> => ({
    key: metric, title: metric, unit, of: MEAN,
    value: ({ metrics }) => finite(metrics.get(metric)?.mean),
    show: ({ metrics: known }) => (known.has(metric) ? <Mean row={known.get(metric)!} /> : '–'),
  }));
  return [
    { key: 'kernel', of: { struct: 'KernelMetricRow', field: 'kernel' }, value: ({ name }) => name,
      show: ({ name }) => <span title={name.slice(0, 2000)}><Name text={instanceName(name)} longest={42} code /></span> },
    ...(new Set(rows.map(({ device }) => device)).size > 1 ? [DEVICE] : []),
    { key: 'launches', title: 'Launches', of: { struct: 'KernelMetricRow', field: 'invocations' }, value: ({ launches }) => launches },
    ...metrics,
  ];
}

export function Metrics({ rows }: { rows: KernelMetricRow[] }) {
  const kernels = useMemo(() => kernelsOf(rows), [rows]);
  const columns = useMemo(() => columnsOf(rows), [rows]);
  return <Table caption="Metrics of kernels" columns={columns} rows={kernels} rowKey={({ key }) => key} />;
}
