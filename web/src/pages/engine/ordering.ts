// The order of places in each row, so that few lines cross: every place goes to the middle of those that it is
// joined with in the row before, down and up in turn (Sugiyama, Tagawa, Toda 1981), and the best order is kept.
import type { Rows } from './ranks';

const SWEEPS = 10;

function placesOf(rows: number[][], count: number): number[] {
  const places = new Array<number>(count).fill(0);
  for (const row of rows) row.forEach((slot, i) => { places[slot] = i; });
  return places;
}

/// Crossings of lines between all rows: inversions, counted in a binary indexed tree.
export function crossings({ slots }: Pick<Rows, 'slots'>, rows: number[][]): number {
  const places = placesOf(rows, slots.length);
  let count = 0;
  rows.forEach((row, rank) => {
    const tree = new Array<number>((rows[rank + 1]?.length ?? 0) + 1).fill(0);
    let seen = 0;
    for (const slot of row) {
      const ends = slots[slot]!.down.map((below) => places[below]!);
      for (const end of ends) {
        let before = 0;
        for (let at = end + 1; at > 0; at -= at & -at) before += tree[at]!;
        count += seen - before;
      }
      for (const end of ends) {
        for (let at = end + 1; at < tree.length; at += at & -at) tree[at]! += 1;
        seen += 1;
      }
    }
  });
  return count;
}

function sortRow(row: number[], joined: (slot: number) => number[], places: number[]): number[] {
  const wish = new Map(row.map((slot) => {
    const others = joined(slot);
    return [slot, others.length ? others.reduce((sum, one) => sum + places[one]!, 0) / others.length : places[slot]!];
  }));
  return [...row].sort((a, b) => wish.get(a)! - wish.get(b)! || places[a]! - places[b]!);
}

/// The rows of slots, each from left to right.
export function orderOf({ slots, rows }: Rows): number[][] {
  let now = rows.map((row) => [...row]);
  let [best, fewest] = [now, crossings({ slots }, now)];
  const places = placesOf(now, slots.length);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; ++sweep) {
    const downward = sweep % 2 === 0;
    now = now.map((row) => [...row]);
    for (let i = 0; i < now.length; ++i) {
      const rank = downward ? i : now.length - 1 - i;
      now[rank] = sortRow(now[rank]!, (slot) => slots[slot]![downward ? 'up' : 'down'], places);
      now[rank]!.forEach((slot, place) => { places[slot] = place; });
    }
    const found = crossings({ slots }, now);
    if (found < fewest) [best, fewest] = [now, found];
  }
  return best;
}
