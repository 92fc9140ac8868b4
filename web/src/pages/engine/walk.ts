// Where arrow keys lead in the graph: along its lines, within a row, and else to the next step that runs.
import type { LayerRow } from '../layers/model';
import type { Layout } from './layout';

const middle = ({ boxes }: Layout, step: number): number => boxes[step]!.x + boxes[step]!.width / 2;

function nearest(all: number[], layout: Layout, at: number): number | undefined {
  return all.reduce<number | undefined>((best, one) => {
    if (best === undefined) return one;
    return Math.abs(middle(layout, one) - middle(layout, at)) < Math.abs(middle(layout, best) - middle(layout, at)) ? one : best;
  }, undefined);
}

/// The step that a key leads to from `at`; null for other keys and at an end.
export function stepTo(key: string, at: number, rows: LayerRow[], readers: number[][], layout: Layout): number | null {
  const last = rows.length - 1;
  const beside = (side: 1 | -1) => rows.map((row) => row.index).filter((one) =>
    one !== at && layout.ranks[one] === layout.ranks[at] && side * (middle(layout, one) - middle(layout, at)) > 0);
  switch (key) {
    case 'ArrowDown': return nearest(readers[at]!, layout, at) ?? (at < last ? at + 1 : null);
    case 'ArrowUp': return nearest(rows[at]!.reads, layout, at) ?? (at > 0 ? at - 1 : null);
    case 'ArrowRight': return nearest(beside(1), layout, at) ?? null;
    case 'ArrowLeft': return nearest(beside(-1), layout, at) ?? null;
    case 'Home': return 0;
    case 'End': return last;
    default: return null;
  }
}
