// Every run with every figure, and its verdict.
import { Table, type Column } from '../../components/table';
import { setQuery } from '../../route';
import { stateOf, type Line, type Row } from './lines';
import { rowsOf } from './lines';

const run = (field: string, title: string, value: (row: Row) => unknown, struct = 'Run'): Column<Row> => ({ key: `${struct}.${field}`, title, of: { struct, field }, value });

function Verdict({ row }: { row: Row }) {
  const state = stateOf(row.run);
  const reasons = row.run.failure ?? row.run.verdict.reasons.join('; ');
  return <span class={`verdict ${state}`} data-hint={reasons || undefined} tabIndex={reasons ? 0 : undefined}>{state}</span>;
}

const COLUMNS: Column<Row>[] = [
  { key: 'line', title: 'Line', value: ({ line }) => line.name },
  run('batch', 'Batch', (row) => row.run.batch),
  { key: 'verdict', title: 'Verdict', hint: 'INVALID runs are shown with their reasons; their figures may be off.', value: (row) => stateOf(row.run), show: (row) => <Verdict row={row} /> },
  run('p50', 'p50', (row) => row.run.latency_ms.p50, 'Times'),
  ...(['p90', 'p95', 'p99'] as const).map((name) => run(name, name, (row) => (row.run.latency_ms.supported?.includes(name) ? row.run.latency_ms[name] : null), 'Times')),
  run('min', 'Min', (row) => row.run.latency_ms.min, 'Times'),
  run('sd', 'sd', (row) => row.run.latency_ms.sd, 'Times'),
  run('n', 'Samples', (row) => row.run.latency_ms.n, 'Times'),
  run('throughput_per_s', 'Throughput', (row) => row.run.throughput_per_s),
  { ...run('relative_l2', 'Error (relative L2)', (row) => row.run.accuracy.relative_l2, 'Accuracy'), unit: '' },
  run('top1_agreement', 'Same first choice', (row) => row.run.accuracy.top1_agreement, 'Accuracy'),
  run('int8_share', 'In int8', (row) => row.run.int8_share),
  run('peak_memory_mb', 'Peak memory', (row) => row.run.peak_memory_mb),
  run('process_mb', 'Device memory', (row) => row.run.device_memory?.process_mb, 'RunDeviceMemory'),
  run('weights_mb', 'Weights', (row) => row.run.memory.weights_mb, 'RunMemory'),
  run('engine_file_mb', 'Engine file', (row) => row.run.memory.engine_file_mb, 'RunMemory'),
  run('load_ms', 'Load', (row) => row.run.load_ms),
  run('backend_version', 'Version', (row) => row.run.backend_version),
  run('threads', 'Threads', (row) => row.run.threads),
];

export const rowKey = ({ line, run: { batch } }: Row): string => `${line.key}|${batch}`;

export function RunsTable({ lines, selected }: { lines: Line[]; selected: string | null }) {
  const rows = rowsOf(lines);
  const used = COLUMNS.filter((column) => rows.some((row) => column.value(row) !== null && column.value(row) !== undefined));
  return (
    <section>
      <h2>Runs</h2>
      <Table caption="Runs" columns={used} rows={rows} rowKey={rowKey} selected={selected} onSelect={(sel) => setQuery({ sel })} />
    </section>
  );
}
