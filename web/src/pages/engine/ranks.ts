// The rows of a graph drawn from top to bottom: every step below all that it reads from.

/// The row of each step. `reads`: for each step, the earlier ones whose outputs it reads.
export function ranksOf(reads: number[][]): number[] {
  const ranks: number[] = [];
  const nearest = reads.map(() => Infinity);
  reads.forEach((from) => {
    let rank = 0;
    for (const one of from) rank = Math.max(rank, ranks[one]! + 1);
    ranks.push(rank);
    for (const one of from) nearest[one] = Math.min(nearest[one]!, rank);
  });
  // A step that reads nothing stands right above who needs it.
  return ranks.map((rank, step) => (reads[step]!.length || nearest[step] === Infinity ? rank : nearest[step]! - 1));
}

/// A place in a row: of a step, or of a line that passes it on the way from `source` to a row further down.
export interface Slot {
  rank: number;
  source: number;
  line: boolean;
  /// Slots of the rows above and below that it is joined with.
  up: number[];
  down: number[];
}

export interface Rows {
  slots: Slot[];
  /// Slots of each row, by number.
  rows: number[][];
  /// For each step, the slots of the line that leaves it; readers branch off from it.
  lines: number[][];
}

/// Null where lines would pass more than `most` rows altogether.
export function slotsOf(reads: number[][], most: number): Rows | null {
  const ranks = ranksOf(reads);
  const slots: Slot[] = ranks.map((rank, source) => ({ rank, source, line: false, up: [], down: [] }));
  const last = ranks.slice();
  reads.forEach((from, step) => from.forEach((one) => { last[one] = Math.max(last[one]!, ranks[step]!); }));
  const join = (above: number, below: number) => {
    slots[above]!.down.push(below);
    slots[below]!.up.push(above);
  };
  const lines: number[][] = [];
  for (let source = 0; source < ranks.length; ++source) {
    const line: number[] = [];
    if (slots.length - ranks.length + last[source]! - ranks[source]! > most) return null;
    for (let rank = ranks[source]! + 1; rank < last[source]!; ++rank) {
      slots.push({ rank, source, line: true, up: [], down: [] });
      join(line.at(-1) ?? source, slots.length - 1);
      line.push(slots.length - 1);
    }
    lines.push(line);
  }
  reads.forEach((from, step) => from.forEach((one) => {
    const before = ranks[step]! - ranks[one]! - 1;
    join(before > 0 ? lines[one]![before - 1]! : one, step);
  }));
  const rows: number[][] = [];
  slots.forEach(({ rank }, slot) => (rows[rank] ??= []).push(slot));
  return { slots, rows: Array.from(rows, (row) => row ?? []), lines };
}
