// Layers from top to bottom in the order in which they run, coloured by their time, with the nodes fused into
// each.
import { Name } from '../../components/name';
import { Value } from '../../components/value';
import { finite, format, parts } from '../../format';
import { setQuery } from '../../route';
import { plural } from '../../text';
import { kindName, type LayerRow } from '../layers/model';
import { heatOf } from './heat';

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
  const heat = heatOf(row, longest) ?? 0;
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

interface StripProps {
  rows: LayerRow[];
  longest: number;
  sel: string | null;
  open: Set<string>;
  onToggle: (key: string) => void;
}

export function Strip({ rows, longest, sel, open, onToggle }: StripProps) {
  return (
    <ol class="engine">
      {rows.map((row) => <StepItem key={row.key} row={row} longest={longest} selected={row.key === sel} open={open.has(row.key)} onToggle={() => onToggle(row.key)} />)}
    </ol>
  );
}
