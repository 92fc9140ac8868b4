// Kernels of B that replaced others of A.
import { Name } from '../../components/name';
import { Empty } from '../../components/note';
import { Table, type Column } from '../../components/table';
import type { Exchange } from './model';
import { signed } from './waterfall';

const field = (name: string) => ({ struct: 'KernelExchange', field: name });

function Names({ names }: { names: string[] }) {
  if (!names.length) return <span class="muted">nothing</span>;
  return <>{names.map((name, i) => <div key={i}><Name text={name} longest={40} code /></div>)}</>;
}

export const COLUMNS: Column<Exchange>[] = [
  { key: 'change', title: 'Change', of: field('change_ns'), value: ({ change }) => change, show: ({ change }) => (change === null ? <span class="muted">–</span> : <span>{signed(change)}</span>) },
  { key: 'time_a', title: 'Time in A', of: field('time_a_ns'), value: ({ timeA }) => timeA },
  { key: 'time_b', title: 'Time in B', of: field('time_b_ns'), value: ({ timeB }) => timeB },
  { key: 'layers', title: 'Layers', of: field('layers'), value: ({ layers }) => layers },
  { key: 'a', title: 'Kernels of A', of: field('a'), value: ({ a }) => a.join(', '), show: ({ a }) => <Names names={a} /> },
  { key: 'b', title: 'Kernels of B', of: field('b'), value: ({ b }) => b.join(', '), show: ({ b }) => <Names names={b} /> },
];

export function ExchangeTable({ exchanges }: { exchanges: Exchange[] }) {
  if (!exchanges.length) return <Empty title="No other kernels"><p>Layers that both have ran the same kernels, or one of the two has no layers with kernels.</p></Empty>;
  return (
    <section>
      <h2>Kernels</h2>
      <p class="muted">Layers whose kernels differ, put together by what ran in place of what.</p>
      <Table caption="Other kernels" columns={COLUMNS} rows={exchanges} rowKey={(row) => String(exchanges.indexOf(row))} />
    </section>
  );
}
