// The graph of an engine as a drawing: where steps stand, and the lines that lead from each to its readers.
import { orderOf } from './ordering';
import { middlesOf } from './placing';
import { slotsOf, type Rows } from './ranks';

/// Lines that pass more rows than this altogether are no drawing that anybody could read.
const MOST_PASSES = 20_000;
const MARGIN = 16;
const GAP = 18;
const ROW_GAP = 34;
const LINE_WIDTH = 2;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  boxes: Box[];
  ranks: number[];
  /// For each step, all lines that leave it, as one path; empty where nobody reads it.
  wires: string[];
  /// The line from a step to one of its readers.
  route: (from: number, to: number) => string;
}

/// Only the columns, which do not depend on unfolded parts.
export interface Columns {
  rows: Rows;
  middles: number[];
}

export function columnsOf(reads: number[][], width: number): Columns | null {
  const rows = slotsOf(reads, MOST_PASSES);
  if (!rows) return null;
  const order = orderOf(rows);
  const middles = middlesOf(rows, order, rows.slots.map(({ line }) => (line ? LINE_WIDTH : width)), GAP);
  return { rows, middles };
}

export function layoutOf({ rows: { slots, rows, lines }, middles }: Columns, width: number, heights: number[]): Layout {
  const half = (slot: number) => (slots[slot]!.line ? LINE_WIDTH : width) / 2;
  let [left, right] = [Infinity, -Infinity];
  middles.forEach((middle, slot) => { left = Math.min(left, middle - half(slot)); right = Math.max(right, middle + half(slot)); });
  const at = (slot: number) => Math.round(middles[slot]! - left + MARGIN);
  const tops: number[] = [];
  const bottoms: number[] = [];
  let y = MARGIN;
  for (const row of rows) {
    let tallest = 0;
    for (const slot of row) if (!slots[slot]!.line) tallest = Math.max(tallest, heights[slot]!);
    tops.push(y);
    bottoms.push(y + tallest);
    y += tallest + ROW_GAP;
  }
  const boxes = heights.map((height, step) => ({ x: at(step) - width / 2, y: tops[slots[step]!.rank]!, width, height }));
  /// From the foot of a slot to the head of one in the next row.
  const curve = (above: number, below: number): string => {
    const [from, to] = [bottoms[slots[above]!.rank]!, tops[slots[below]!.rank]!];
    const middle = (from + to) / 2;
    const start = slots[above]!.line ? tops[slots[above]!.rank]! : boxes[above]!.y + boxes[above]!.height;
    return `M${at(above)} ${start}V${from}C${at(above)} ${middle} ${at(below)} ${middle} ${at(below)} ${to}`;
  };
  const wires = heights.map((_, step) => [step, ...lines[step]!].flatMap((slot) => slots[slot]!.down.map((below) => curve(slot, below))).join(''));
  const route = (from: number, to: number): string => {
    const passed = lines[from]!.slice(0, Math.max(0, slots[to]!.rank - slots[from]!.rank - 1));
    const all = [from, ...passed, to];
    return all.slice(1).map((slot, i) => curve(all[i]!, slot)).join('');
  };
  return { width: Math.ceil(right - left + 2 * MARGIN), height: y - ROW_GAP + MARGIN, boxes, ranks: heights.map((_, step) => slots[step]!.rank), wires, route };
}
