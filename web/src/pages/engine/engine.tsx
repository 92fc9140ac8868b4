// The engine as it runs: a graph where the trace holds its edges, else a strip in the order in which layers
// run.
import { useCallback, useMemo } from 'preact/hooks';
import { downloadCsv } from '../../components/download';
import { Menu } from '../../components/menu';
import { Empty } from '../../components/note';
import { Tabs } from '../../components/tabs';
import { dict } from '../../data/safe';
import { format } from '../../format';
import { setQuery } from '../../route';
import type { LayerAnalysis } from '../../schema';
import { plural } from '../../text';
import { LayerDetail, stepLink } from '../layers/detail';
import { readersOf, rowsOf, type LayerRow } from '../layers/model';
import type { ViewProps } from '../props';
import { Graph } from './graph';
import { longestOf } from './heat';
import { columnsOf, type Columns } from './layout';
import { Neighbours } from './neighbours';
import { WIDTH } from './step_box';
import { Strip } from './strip';

const HEAD = ['#', 'Layer', 'Kind', 'Tactic', 'Nodes', 'Median (ns)', 'Reads from'];
const cells = (row: LayerRow) =>
  [row.index + 1, row.name, row.kind, row.tactic, row.sources.join(' + '), row.time.median_ns, row.reads.map((one) => one + 1).join(' ')];
const FORMS = [{ id: 'graph', label: 'Graph' }, { id: 'list', label: 'List' }];
/// More boxes than a page can draw.
const MOST_STEPS = 2000;

function openOf(query: string | null, rows: LayerRow[]): Set<string> {
  return new Set(query === 'all' ? rows.map((row) => row.key) : (query ?? '').split('~').filter(Boolean));
}

/// Null where the trace holds no edges; a text says why there is no drawing though it does.
function drawingOf(rows: LayerRow[]): Columns | string | null {
  if (!rows.some((row) => row.reads.length)) return null;
  const columns = rows.length > MOST_STEPS ? null : columnsOf(rows.map((row) => row.reads), WIDTH);
  return columns ?? 'The graph is too large to be drawn.';
}

export function EngineView({ profile, analysis, route }: ViewProps) {
  const rows = useMemo(() => rowsOf(dict<LayerAnalysis>(analysis.layers)), [analysis]);
  const readers = useMemo(() => readersOf(rows), [rows]);
  const drawing = useMemo(() => drawingOf(rows), [rows]);
  const close = useCallback(() => setQuery({ sel: null }), []);
  if (!rows.length) return <Empty title="No layers"><p>The trace does not hold the steps of the engine.</p></Empty>;
  const sel = route.query.get('sel');
  const selected = rows.find((row) => row.key === sel);
  const open = openOf(route.query.get('open'), rows);
  const fused = rows.filter((row) => row.sources.length > 1);
  const toggle = (key: string) => {
    const next = fused.map((row) => row.key).filter((one) => open.has(one) !== (one === key));
    setQuery({ open: next.join('~') });
  };
  const columns = typeof drawing === 'object' ? drawing : null;
  const graph = columns !== null && route.query.get('form') !== 'list';
  const longest = longestOf(rows);
  const csv = { label: 'CSV', run: () => downloadCsv('Engine', HEAD, rows.map(cells)) };
  const order = graph ? 'each below those that it reads from' : 'in the order in which they run';
  return (
    <>
      <p class="muted">{plural(rows.length, 'layer')}, {order}, {fused.length} of them fused of several nodes of the model. The stronger the colour, the longer: up to {format(longest, 'ns')}. {drawing === null ? 'This trace holds no edges between layers.' : typeof drawing === 'string' && drawing}</p>
      <div class="tools">
        <span class="count">{columns && <Tabs label="Form" choices={FORMS} value={graph ? 'graph' : 'list'} onChange={(id) => setQuery({ form: id === 'list' ? id : null })} />}</span>
        {fused.length > 0 && <button type="button" class="quiet" onClick={() => setQuery({ open: open.size ? null : 'all' })}>{open.size ? 'Fold all' : 'Unfold all'}</button>}
        {!graph && <Menu label="Export" actions={[csv]} />}
      </div>
      {graph
        ? <Graph rows={rows} readers={readers} columns={columns} longest={longest} selected={selected} open={open} onToggle={toggle} actions={[csv]} />
        : <Strip rows={rows} longest={longest} sel={sel} open={open} onToggle={toggle} />}
      {selected && (
        <LayerDetail row={selected} timeline={stepLink(profile, analysis)} onClose={close}>
          {drawing !== null && <Neighbours row={selected} rows={rows} readers={readers} />}
        </LayerDetail>
      )}
    </>
  );
}
