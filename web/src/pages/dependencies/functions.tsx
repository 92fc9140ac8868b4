// Who is on the path, who waits, and who is to blame for it.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { Table, type Column } from '../../components/table';
import { known } from '../../data/safe';
import { format, formatTick } from '../../format';
import { setQuery } from '../../route';
import { clip } from '../../text';
import { kindName } from './kinds';
import type { PathFunction } from './path_model';

const time = (field: keyof PathFunction, title: string, more: Partial<Column<PathFunction>> = {}): Column<PathFunction> =>
  ({ key: field, title, of: { struct: 'FunctionTime', field }, value: (row) => row[field] ?? null, ...more });

const COLUMNS: Column<PathFunction>[] = [
  { key: 'name', title: 'Function', of: { struct: 'FunctionTime', field: 'name' }, value: ({ name }) => name, code: true },
  { key: 'kind', of: { struct: 'FunctionTime', field: 'kind' }, value: ({ kind }) => kindName(kind) },
  time('critical_path_ns', 'On the path', { bar: true }), time('share', 'Share'), time('calls', 'Calls'),
  time('waiting_ns', 'Waiting'), time('device_waiting_ns', 'Device waiting'), time('queue_delay_ns', 'Queue delay'), time('blame_ns', 'Blame'),
];

export function FunctionTable({ functions, selected }: { functions: PathFunction[]; selected: string | null }) {
  return (
    <section>
      <h2>Functions</h2>
      <p class="muted">Only time on the path makes the program shorter. Choosing a function lights its segments above.</p>
      <Table caption="Functions on the critical path" columns={COLUMNS} rows={functions} rowKey={({ key }) => key}
        selected={selected} onSelect={(sel) => setQuery({ sel })} />
    </section>
  );
}

const PARTS = [['waiting_ns', 'Waiting of host threads'], ['device_waiting_ns', 'Waiting of the device'], ['blame_ns', 'Blame for waiting']] as const;
const MOST = 14;

function waitingOption(rows: PathFunction[], of: Look) {
  const parts = PARTS.filter(([field]) => rows.some((row) => known(row[field])));
  return {
    tooltip: {
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const row = rows[dataIndex]!;
        return tip(row.name, [['kind', kindName(row.kind)], ...PARTS.map(([field, label]) => [label.toLowerCase(), format(row[field], 'ns')] as const)]);
      },
    },
    grid: { top: 10, bottom: 8, right: 24 },
    xAxis: axis(of, { type: 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    yAxis: axis(of, { type: 'category', inverse: true, data: rows.map(({ name }) => clip(name, 120)), splitLine: { show: false }, axisLabel: { width: Math.min(300, innerWidth * 0.3), overflow: 'truncate', color: of.text, interval: 0 } }),
    series: parts.map(([field, label]) => {
      const i = PARTS.findIndex(([one]) => one === field);
      const style = { color: of.series[i], ...(i === 2 ? { borderColor: of.text, borderWidth: 1 } : {}) };
      return { type: 'bar', name: label, barMaxWidth: 12, barGap: '10%', itemStyle: style, data: rows.map((row) => known(row[field]) ?? 0) };
    }),
  };
}

export function WaitingFigure({ functions }: { functions: PathFunction[] }) {
  const rows = useMemo(() => {
    const sum = (row: PathFunction) => PARTS.reduce((all, [field]) => all + (known(row[field]) ?? 0), 0);
    return functions.filter((row) => sum(row) > 0).sort((a, b) => sum(b) - sum(a)).slice(0, MOST);
  }, [functions]);
  const option = useCallback((of: Look) => waitingOption(rows, of), [rows]);
  const data = useMemo(() => ({ columns: COLUMNS, rows }), [rows]);
  if (!rows.length) return null;
  return (
    <div class="group">
      <Chart title="Waiting, and who is to blame for it" option={option} data={data} height={60 + 40 * rows.length}
        description={`Bars for the ${rows.length} functions that wait or make others wait most.`}
        tools={<ul class="keys">{PARTS.map(([field, label], i) => <li key={field}><i class={`swatch s${i}`} /> {label}</li>)}</ul>} />
    </div>
  );
}
