// Kernels: what ran on the GPU, what counters said of it, what the host called and announced, and what was copied.
import { useMemo } from 'preact/hooks';
import { Empty, Note } from '../../components/note';
import { Table } from '../../components/table';
import { Tabs, type Choice } from '../../components/tabs';
import { listOf, partOf } from '../../data/lists';
import { setQuery } from '../../route';
import type { Activity, ActivitySummary, KernelMetricRow, KernelMetricTable, Volume } from '../../schema';
import type { ViewProps } from '../props';
import '../views.css';
import { activityColumns, CALL_COLUMNS, VOLUME_COLUMNS } from './columns';
import { Detail } from './detail';
import { groupsOf, type Grouping } from './groups';
import { kernelsOf, Metrics } from './metrics';
import { Pies } from './pies';

const GROUPINGS: (Choice & { id: Grouping })[] = [
  { id: 'name', label: 'Kernel name' }, { id: 'base', label: 'Base name' }, { id: 'kind', label: 'Kind' },
];
const BY_TOTAL = { key: 'total_ns', descending: true };

interface TableProps {
  activities: Activity[];
  query: URLSearchParams;
}

function Activities({ activities, query }: TableProps) {
  const by = GROUPINGS.find(({ id }) => id === query.get('group'))?.id ?? 'name';
  const rows = useMemo(() => groupsOf(activities, by), [activities, by]);
  const columns = useMemo(() => activityColumns(by), [by]);
  const selected = query.get('sel');
  const row = by === 'name' ? rows.find(({ key }) => key === selected) : undefined;
  return (
    <>
      <div class="choices"><Tabs label="Grouped by" choices={GROUPINGS} value={by} onChange={(group) => setQuery({ group: group === 'name' ? null : group, sel: null })} /></div>
      {row && <Detail row={row} />}
      <Table key={by} caption="GPU activities" columns={columns} rows={rows} rowKey={({ key }) => key} sort={BY_TOTAL}
        selected={selected} onSelect={by === 'name' ? (sel) => setQuery({ sel }) : undefined} />
    </>
  );
}

function Calls({ activities, caption, query }: TableProps & { caption: string }) {
  const rows = useMemo(() => groupsOf(activities, 'name'), [activities]);
  const selected = query.get('sel');
  const row = rows.find(({ key }) => key === selected);
  return (
    <>
      {row && <Detail row={row} />}
      <Table key={caption} caption={caption} columns={CALL_COLUMNS} rows={rows} rowKey={({ key }) => key} sort={BY_TOTAL} selected={selected} onSelect={(sel) => setQuery({ sel })} />
    </>
  );
}

export function Kernels({ analysis, route }: ViewProps) {
  const { gpu, calls, ranges, threads, volumes, kernels, metrics } = useMemo(() => {
    const summary = partOf<ActivitySummary>(analysis.summary);
    const all = listOf<Activity>(summary.gpu_activities);
    return {
      gpu: all, kernels: all.filter(({ kind }) => kind === 'kernel'), calls: listOf<Activity>(summary.api_calls),
      ranges: listOf<Activity>(summary.ranges), threads: listOf<Activity>(summary.thread_calls), volumes: listOf<Volume>(summary.transfers),
      metrics: listOf<KernelMetricRow>(partOf<KernelMetricTable>(analysis.metrics).rows),
    };
  }, [analysis]);
  const tables = [
    { id: 'gpu', label: 'GPU', rows: gpu }, { id: 'metrics', label: 'Metrics', rows: kernelsOf(metrics) }, { id: 'copies', label: 'Copies', rows: volumes },
    { id: 'api', label: 'API', rows: calls }, { id: 'ranges', label: 'Ranges', rows: ranges }, { id: 'threads', label: 'Threads', rows: threads },
  ].filter(({ rows }) => rows.length);
  const open = tables.find(({ id }) => id === route.query.get('table'))?.id ?? tables[0]?.id;
  if (open === undefined) return <Empty title="Nothing ran"><p>The trace holds no kernels, calls of the CUDA API or ranges.</p></Empty>;
  return (
    <>
      {gpu.length === 0 && metrics.length === 0 && <Note title="No work of a GPU was recorded"><p>The program ran on the CPU, so there are no kernels: here is what it called and announced.</p></Note>}
      {kernels.length > 0 && <section><Pies kernels={kernels} /></section>}
      <section>
        <div class="choices">
          <Tabs label="Table" value={open} onChange={(table) => setQuery({ table, sel: null })}
            choices={tables.map(({ id, label, rows }) => ({ id, label: `${label} (${rows.length})` }))} />
        </div>
        {open === 'gpu' && <Activities activities={gpu} query={route.query} />}
        {open === 'metrics' && <Metrics rows={metrics} />}
        {open === 'copies' && <Table caption="Copies and sets" columns={VOLUME_COLUMNS} rows={volumes} rowKey={(row) => String(volumes.indexOf(row))} />}
        {open === 'api' && <Calls caption="API calls" activities={calls} query={route.query} />}
        {open === 'threads' && <Calls caption="Thread calls" activities={threads} query={route.query} />}
        {open === 'ranges' && <Calls caption="Ranges" activities={ranges} query={route.query} />}
      </section>
    </>
  );
}
