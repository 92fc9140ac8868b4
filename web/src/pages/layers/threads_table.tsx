// Use of each thread of the CPU in each layer.
import { Table, type Column } from '../../components/table';
import { dict, dicts, known, ratio } from '../../data/safe';
import { plural } from '../../text';
import { format } from '../../format';
import type { LayerThreads, LayerThreadTable } from '../../schema';

type Row = Partial<LayerThreads>;
const column = (field: keyof LayerThreads, title?: string, more: Partial<Column<Row>> = {}): Column<Row> =>
  ({ key: field, title, of: { struct: 'LayerThreads', field }, value: (row) => row[field] ?? null, ...more });

const COLUMNS: Column<Row>[] = [
  column('name', 'Layer'),
  column('calls'),
  column('wall_ns', 'Wall', { bar: true }),
  column('cpu_ns', 'CPU time'),
  column('slowest_thread_ns', 'Busiest thread'),
  column('imbalance', 'Imbalance'),
  { key: 'ipc', title: 'Instructions per cycle', unit: 'count', hint: 'Instructions by cycles, both of user code. Origin: measured.', value: (row) => ratio(row.instructions, row.cycles) },
  column('cycles', 'Cycles', { value: (row) => known(row.cycles) }),
  column('instructions', 'Instructions', { value: (row) => known(row.instructions) }),
  column('cache_misses', 'Cache misses'),
];

export function ThreadsTable({ table }: { table: Partial<LayerThreadTable> }) {
  const rows = dicts<LayerThreads>(dict<LayerThreadTable>(table).layers);
  if (!rows.length) return null;
  const used = COLUMNS.filter(({ key, value }) => key === 'name' || rows.some((row) => value(row) !== null));
  const threads = typeof table.threads === 'number' ? plural(table.threads, 'thread') : format(null, '');
  return (
    <section>
      <h2>Threads</h2>
      <p class="muted">{threads} worked in some layer.</p>
      <Table caption="Threads by layer" columns={used} rows={rows} rowKey={(row) => String(rows.indexOf(row))} />
    </section>
  );
}
