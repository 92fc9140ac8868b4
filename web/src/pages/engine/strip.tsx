// The engine as it runs: layers from top to bottom, coloured by their time, with what was fused into each.
import { useCallback, useMemo } from 'preact/hooks';
import { downloadCsv } from '../../components/download';
import { Menu } from '../../components/menu';
import { Name } from '../../components/name';
import { Empty } from '../../components/note';
import { Value } from '../../components/value';
import { dict } from '../../data/safe';
import { finite, format, parts } from '../../format';
import { setQuery } from '../../route';
import type { LayerAnalysis } from '../../schema';
import { plural } from '../../text';
import type { ViewProps } from '../props';
import { LayerDetail, stepLink } from './detail';
import { kindName, rowsOf, type LayerRow } from './model';

const HEAD = ['#', 'Layer', 'Kind', 'Tactic', 'Nodes', 'Median (ns)'];
const cells = (row: LayerRow) => [row.index + 1, row.name, row.kind, row.tactic, row.sources.join(' + '), row.time.median_ns];

interface StepProps {
  row: LayerRow;
  longest: number;
  selected: boolean;
  open: boolean;
  onToggle: () => void;
}

function move(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !(event.currentTarget instanceof HTMLElement)) return;
  const all = [...(event.currentTarget.closest('ol')?.querySelectorAll<HTMLElement>('.step') ?? [])];
  const next = all[all.indexOf(event.currentTarget) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function StepItem({ row, longest, selected, open, onToggle }: StepProps) {
  const median = finite(row.time.median_ns);
  const heat = longest > 0 && median ? Math.min(1, Math.max(0, median / longest)) : 0;
  const fused = row.sources.length > 1;
  return (
    <li class={selected ? 'chosen' : undefined}>
      <div class="line">
        <button type="button" class="step" aria-pressed={selected} onKeyDown={move} onClick={() => setQuery({ sel: selected ? null : row.key })}>
          <i class="heat" style={{ opacity: 0.08 + 0.92 * heat }} />
          <span class="at">{row.index + 1}</span>
          <span class="what"><Name text={row.name} longest={90} /><small><Name text={kindName(row.kind)} longest={30} />{row.tactic && <> · <Name text={row.tactic} longest={50} code /></>}</small></span>
          <span class="time"><Value {...parts(median, 'ns')} /><small>{format(row.share, 'share')}</small></span>
        </button>
        {fused && <button type="button" class="quiet" aria-expanded={open} onClick={onToggle} aria-label={`Nodes of layer ${row.index + 1}`}>{plural(row.sources.length, 'node')}</button>}
      </div>
      {fused && open && <ul class="nodes">{row.sources.slice(0, 100).map((source, i) => <li key={i}><Name text={source} code /></li>)}</ul>}
    </li>
  );
}

function openOf(query: string | null, rows: LayerRow[]): Set<string> {
  return new Set(query === 'all' ? rows.map((row) => row.key) : (query ?? '').split('~').filter(Boolean));
}

export function EngineView({ profile, analysis, route }: ViewProps) {
  const rows = useMemo(() => rowsOf(dict<LayerAnalysis>(analysis.layers)), [analysis]);
  const close = useCallback(() => setQuery({ sel: null }), []);
  if (!rows.length) return <Empty title="No layers"><p>The trace does not tell what the engine ran.</p></Empty>;
  const longest = Math.max(0, ...rows.map((row) => finite(row.time.median_ns) ?? 0));
  const sel = route.query.get('sel');
  const selected = rows.find((row) => row.key === sel);
  const open = openOf(route.query.get('open'), rows);
  const fused = rows.filter((row) => row.sources.length > 1);
  const toggle = (key: string) => {
    const next = fused.map((row) => row.key).filter((one) => open.has(one) !== (one === key));
    setQuery({ open: next.join('~') });
  };
  return (
    <>
      <p class="muted">{plural(rows.length, 'layer')} in the order in which they run, {fused.length} of them fused of several nodes of the model. The stronger the colour, the longer: up to {format(longest, 'ns')}. Traces hold no edges between layers.</p>
      <div class="tools">
        <span class="count" />
        {fused.length > 0 && <button type="button" class="quiet" onClick={() => setQuery({ open: open.size ? null : 'all' })}>{open.size ? 'Fold all' : 'Unfold all'}</button>}
        <Menu label="Export" actions={[{ label: 'CSV', run: () => downloadCsv('Engine', HEAD, rows.map(cells)) }]} />
      </div>
      <ol class="engine">
        {rows.map((row) => <StepItem key={row.key} row={row} longest={longest} selected={row.key === sel} open={open.has(row.key)} onToggle={() => toggle(row.key)} />)}
      </ol>
      {selected && <LayerDetail row={selected} timeline={stepLink(profile, analysis)} onClose={close} />}
    </>
  );
}
