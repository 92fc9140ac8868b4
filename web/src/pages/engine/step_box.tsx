// One step in the drawing of the graph: name, kind, tactic and time, and below them its nodes when it is unfolded.
// Colours are attributes, so that the drawing is whole when it is saved.
import type { ComponentChildren } from 'preact';
import type { Look } from '../../components/chart_look';
import { finite, format } from '../../format';
import { clean, clip, plural } from '../../text';
import { kindName, type LayerRow } from '../layers/model';
import { hueOf, opacityOf } from './heat';
import type { Box } from './layout';

export const WIDTH = 248;
const HEIGHT = 48;
const LINE = 16;
const MOST_NODES = 12;
const PAD = 10;
/// Letters that fit on a line, by their mean width.
const NAME_LETTERS = 25;
const TACTIC_LETTERS = 24;
const NODE_LETTERS = 36;
const TIME_WIDTH = 68;

export function heightOf(row: LayerRow, open: boolean): number {
  if (!open) return HEIGHT;
  return HEIGHT + 8 + LINE * Math.min(row.sources.length, MOST_NODES + 1);
}

const isInserted = (row: LayerRow): boolean => row.sources.length === 0 && (row.kind === 'Reorder' || row.kind === 'Copy');

function nodesOf(row: LayerRow): string[] {
  if (row.sources.length <= MOST_NODES + 1) return row.sources;
  return [...row.sources.slice(0, MOST_NODES), `and ${row.sources.length - MOST_NODES} more`];
}

/// A text that is wider than its place, in whatever font, is cut off.
const Cut = ({ width, children }: { width: number; children: ComponentChildren }) => <svg width={width} height={HEIGHT}>{children}</svg>;

interface StepBoxProps {
  row: LayerRow;
  box: Box;
  heat: number | null;
  of: Look;
  selected: boolean;
  /// True if Tab leads here; arrow keys lead to the others.
  reachable: boolean;
  open: boolean;
  onPick: () => void;
  onToggle: () => void;
  onHover: (over: boolean) => void;
}

export function StepBox({ row, box, heat, of, selected, reachable, open, onPick, onToggle, onHover }: StepBoxProps) {
  const { x, y, width, height } = box;
  const fused = row.sources.length > 1;
  const time = format(finite(row.time.median_ns), 'ns');
  const reads = row.reads.length ? `reads from ${row.reads.length > 8 ? plural(row.reads.length, 'layer') : row.reads.map((one) => `layer ${one + 1}`).join(', ')}` : 'reads from no other';
  const press = (act: () => void) => (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const tab = reachable ? 0 : -1;
  const what = [kindName(row.kind), row.tactic].filter(Boolean).join(' · ');
  const radius = isInserted(row) ? 14 : 5;
  return (
    <g transform={`translate(${x} ${y})`} font-family={of.font} font-size="12" onPointerEnter={() => onHover(true)} onPointerLeave={() => onHover(false)}>
      <g class="box" role="button" tabindex={tab} data-step={row.index} aria-pressed={selected} onClick={onPick} onKeyDown={press(onPick)}
        aria-label={`Layer ${row.index + 1}, ${clip(row.name, 120)}, ${what}, ${time}, ${reads}`}>
        <title>{`${clip(row.name, 400)}\n${clip(what, 200)}`}</title>
        <rect width={width} height={height} rx={radius} fill={of.surface} />
        <rect width={width} height={height} rx={radius} fill={hueOf(of)} fill-opacity={opacityOf(heat ?? 0)}
          stroke={selected ? of.accent : of.muted} stroke-width={selected ? 2.5 : 1} stroke-opacity={selected ? 1 : 0.55} stroke-dasharray={isInserted(row) || heat === null ? '4 3' : undefined} />
        <Cut width={width - PAD - (fused ? 40 : 4)}><text x={PAD} y="19" fill={of.text} font-weight="600" unicode-bidi="isolate">{clip(row.name, fused ? NAME_LETTERS : NAME_LETTERS + 5) || '–'}</text></Cut>
        <Cut width={width - PAD - TIME_WIDTH}><text x={PAD} y="36" fill={of.text} fill-opacity="0.72" font-size="11" unicode-bidi="isolate">{clip(what, TACTIC_LETTERS)}</text></Cut>
        <text x={width - PAD} y="36" fill={of.text} text-anchor="end">{time}</text>
        {heat !== null && <rect x={PAD} y="42" width={Math.max(1, (width - 2 * PAD) * heat)} height="2.5" rx="1" fill={hueOf(of)} />}
        {open && nodesOf(row).map((node, i) => (
          <text key={i} x={PAD + 8} y={HEIGHT + 12 + LINE * i} fill={of.text} font-size="11" unicode-bidi="isolate"><title>{clip(node, 400)}</title>{clip(clean(node), NODE_LETTERS)}</text>
        ))}
        {open && <line x1={PAD + 1} x2={PAD + 1} y1={HEIGHT + 2} y2={height - 6} stroke={of.muted} stroke-opacity="0.6" />}
      </g>
      {fused && (
        <g class="toggle" role="button" tabindex={tab} aria-expanded={open} aria-label={`Nodes of layer ${row.index + 1}`} onClick={onToggle} onKeyDown={press(onToggle)}>
          <rect x={width - 37} y="5" width="32" height="19" rx="4" fill={of.surface} fill-opacity="0.55" stroke={of.muted} stroke-opacity="0.45" />
          <text x={width - 21} y="19" text-anchor="middle" fill={of.text} font-size="11">{row.sources.length > 99 ? '99+' : row.sources.length} {open ? '▴' : '▾'}</text>
        </g>
      )}
    </g>
  );
}
