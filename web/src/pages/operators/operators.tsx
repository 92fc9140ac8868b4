// Operators of a framework: what they cost on the host and on the device.
import { useMemo } from 'preact/hooks';
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Empty } from '../../components/note';
import { Table, type Column } from '../../components/table';
import { Tabs } from '../../components/tabs';
import { listOf, partOf } from '../../data/lists';
import { finite } from '../../format';
import { setQuery } from '../../route';
import type { OperatorRow, OperatorTable } from '../../schema';
import { clean } from '../../text';
import { Donut } from '../parts/donut';
import type { ViewProps } from '../props';
import '../views.css';

const METRICS = [
  { id: 'device_self_ns', label: 'Device self' }, { id: 'device_total_ns', label: 'Device total' },
  { id: 'host_self_ns', label: 'Host self' }, { id: 'host_total_ns', label: 'Host total' },
] as const;
type Metric = (typeof METRICS)[number]['id'];

const of = (field: keyof OperatorRow) => ({ struct: 'OperatorRow', field });
const NAME: Column<OperatorRow> = { key: 'name', of: of('name'), value: ({ name }) => name, show: ({ name }) => <Name text={name} longest={56} code /> };
const SHAPES: Column<OperatorRow> = { key: 'shapes', of: of('input_shapes'), value: (row) => row.input_shapes, show: (row) => <Name text={row.input_shapes} longest={56} code /> };
const CALLS: Column<OperatorRow> = { key: 'calls', of: of('calls'), value: ({ calls }) => calls };
const ELIGIBLE: Column<OperatorRow> = {
  key: 'eligible', title: 'Tensor Core eligible', of: of('tensor_core_eligible_by_name'), unit: '', value: (row) => (row.tensor_core_eligible_by_name === true ? 'yes' : 'no'),
};
const TENSOR: Column<OperatorRow> = { key: 'tensor', title: 'Tensor Core time', of: of('device_tensor_core_ns'), value: (row) => row.device_tensor_core_ns };

function columnsOf(rows: OperatorRow[], known: readonly (typeof METRICS)[number][]): Column<OperatorRow>[] {
  const device = known.some(({ id }) => id === 'device_self_ns');
  const times = known.map(({ id, label }): Column<OperatorRow> => ({ key: id, title: label, of: of(id), bar: id.endsWith('self_ns'), value: (row) => row[id] }));
  return [NAME, ...(rows.some((row) => row.input_shapes) ? [SHAPES] : []), CALLS, ...times, ...(device ? [TENSOR] : []), ELIGIBLE];
}

/// Rows of one name and other shapes are parts of their own.
function Ring({ rows, metric, choices }: { rows: OperatorRow[]; metric: Metric; choices: readonly (typeof METRICS)[number][] }) {
  const slices = useMemo(() => rows.map((row) => ({ name: [clean(row.name), clean(row.input_shapes)].filter(Boolean).join(' '), value: finite(row[metric]) ?? 0 })), [rows, metric]);
  const field = useMemo(() => of(metric), [metric]);
  const { label } = METRICS.find(({ id }) => id === metric)!;
  return (
    <>
      <Donut title={`${label} time`} description={`${label} time of operators: the ten longest and the rest.`} slices={slices} of={field} part="Operator" wide overlap={metric.endsWith('total_ns')}
        tools={choices.length > 1 && <Tabs label="Time" choices={[...choices]} value={metric} onChange={(pie) => setQuery({ pie })} />} />
      {metric.endsWith('total_ns') && <p class="muted below">Totals count what runs inside of an operator for both, so these parts overlap.</p>}
    </>
  );
}

export function Operators({ analysis, route }: ViewProps) {
  const table = partOf<OperatorTable>(analysis.operators);
  const rows = useMemo(() => listOf<OperatorRow>(table.operators), [analysis]);
  const known = useMemo(() => METRICS.filter(({ id }) => rows.some((row) => (finite(row[id]) ?? 0) > 0)), [rows]);
  const columns = useMemo(() => columnsOf(rows, known), [rows, known]);
  const metric = known.find(({ id }) => id === route.query.get('pie'))?.id ?? known[0]?.id;
  const unjoined = finite(table.unjoined_device_events);
  if (!rows.length) {
    return (
      <Empty title="No operators were recorded">
        <p>Operators are those of PyTorch: <code>hone profile</code> records them with backends <code>torch</code> and <code>torchscript</code>, with <code>--record-shapes</code> by the shapes of their inputs too, and traces of PyTorch’s profiler hold them.</p>
      </Empty>
    );
  }
  return (
    <>
      {(unjoined ?? 0) > 0 && (
        <div class="figures">
          <Figure label="Device time of no operator" value={finite(table.unjoined_device_ns)} of={{ struct: 'OperatorTable', field: 'unjoined_device_ns' }} />
          <Figure label="Kernels, copies and sets of no operator" value={unjoined} of={{ struct: 'OperatorTable', field: 'unjoined_device_events' }} />
        </div>
      )}
      {metric && <section><Ring rows={rows} metric={metric} choices={known} /></section>}
      <section>
        <h2>Operators</h2>
        <Table caption="Operators" columns={columns} rows={rows} rowKey={(row) => `${clean(row.name)} ${clean(row.input_shapes)}`.trim()}
          sort={metric && { key: metric, descending: true }} selected={route.query.get('sel')} onSelect={(sel) => setQuery({ sel })} />
      </section>
    </>
  );
}
