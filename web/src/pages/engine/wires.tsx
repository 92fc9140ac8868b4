// The lines between steps: from each one line that its readers branch off, and those of marked steps once more,
// strong.
import type { Look } from '../../components/chart_look';
import type { LayerRow } from '../layers/model';
import type { Layout } from './layout';

interface WiresProps {
  layout: Layout;
  of: Look;
  marked: number[];
  rows: LayerRow[];
  readers: number[][];
}

export function Wires({ layout, of, marked, rows, readers }: WiresProps) {
  const routes = marked.flatMap((step) => [
    ...(rows[step]?.reads ?? []).map((from) => layout.route(from, step)),
    ...(readers[step] ?? []).map((to) => layout.route(step, to)),
  ]);
  return (
    <g fill="none" class="wires">
      {layout.wires.map((path, step) => path && <path key={step} d={path} stroke={of.muted} stroke-opacity="0.6" stroke-width="1.2" />)}
      {rows.map((row) => row.reads.length > 0 && (
        <circle key={row.key} cx={layout.boxes[row.index]!.x + layout.boxes[row.index]!.width / 2} cy={layout.boxes[row.index]!.y - 1} r="2.6" fill={of.muted} />
      ))}
      {routes.length > 0 && <path class="marked" d={routes.join('')} stroke={of.accent} stroke-width="2.2" />}
    </g>
  );
}
