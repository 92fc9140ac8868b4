// Where places lie in their rows: each as near as can be to the middle of those that it is joined with, in the
// given order and without overlapping.
import type { Rows } from './ranks';

const SWEEPS = 16;
/// Lines are to be straight before steps are.
const LINE_WEIGHT = 6;

/// The positions nearest to `wishes`, by weighted squares, that keep `apart[i]` between i - 1 and i: isotonic
/// regression by pooling neighbours that stand in each other's way.
export function spread(wishes: number[], apart: number[], weights: number[]): number[] {
  const pools: { sum: number; weight: number; count: number }[] = [];
  const offsets: number[] = [];
  wishes.forEach((wish, i) => {
    offsets.push(i ? offsets[i - 1]! + apart[i]! : 0);
    let pool = { sum: (wish - offsets[i]!) * weights[i]!, weight: weights[i]!, count: 1 };
    for (let before = pools.at(-1); before && before.sum / before.weight > pool.sum / pool.weight; before = pools.at(-1)) {
      pool = { sum: before.sum + pool.sum, weight: before.weight + pool.weight, count: before.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  });
  return pools.flatMap(({ sum, weight, count }) => new Array<number>(count).fill(sum / weight)).map((value, i) => value + offsets[i]!);
}

/// Middles of all slots. `rows` in order; `widths` by slot.
export function middlesOf({ slots }: Pick<Rows, 'slots'>, rows: number[][], widths: number[], gap: number): number[] {
  const middles = new Array<number>(slots.length).fill(0);
  const apart = rows.map((row) => row.map((slot, i) => (i ? (widths[row[i - 1]!]! + widths[slot]!) / 2 + gap : 0)));
  const put = (row: number[], rank: number, wishes: number[], weights: number[]) =>
    spread(wishes, apart[rank]!, weights).forEach((middle, i) => { middles[row[i]!] = middle; });
  rows.forEach((row, rank) => put(row, rank, row.map(() => 0), row.map(() => 1)));
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    const downward = sweep % 2 === 0;
    for (let i = 0; i < rows.length; ++i) {
      const rank = downward ? i : rows.length - 1 - i;
      const row = rows[rank]!;
      const [wishes, weights]: [number[], number[]] = [[], []];
      for (const slot of row) {
        const { up, down, line } = slots[slot]!;
        // In the last two sweeps, both sides count.
        const others = sweep >= SWEEPS - 2 ? [...up, ...down] : downward ? up : down;
        let [sum, weight] = [0, 0];
        for (const one of others) {
          const by = line && slots[one]!.line ? LINE_WEIGHT : 1;
          sum += by * middles[one]!;
          weight += by;
        }
        wishes.push(weight ? sum / weight : middles[slot]!);
        weights.push(Math.max(0.1, weight));
      }
      put(row, rank, wishes, weights);
    }
  }
  return middles;
}
