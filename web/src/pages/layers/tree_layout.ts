// Where blocks lie: those of a level fill the figure, what is within one fills it below its name.
import type { Block } from './blocks';
import { squarify, type Box } from './squarify';

export interface Placed {
  block: Block;
  /// Drawn within the last one before it that is not.
  inner: boolean;
  group: number;
}

const HEAD = 18;
const GAP = 2;

function within({ x, y, width, height }: Box): Box {
  const head = height > 2 * HEAD ? HEAD : 0;
  return { x: x + GAP, y: y + head + (head ? 0 : GAP), width: Math.max(0, width - 2 * GAP), height: Math.max(0, height - head - GAP - (head ? 0 : GAP)) };
}

/// A box for each, in the same order.
export function placeAll(items: Placed[], width: number, height: number): Box[] {
  const outer = items.filter((item) => !item.inner);
  const boxes = squarify(outer.map(({ block }) => block.time), { x: 0, y: 0, width, height });
  return outer.flatMap((item, i) => {
    const box = boxes[i]!;
    const inner = items.filter((one) => one.inner && one.group === item.group);
    return [box, ...squarify(inner.map(({ block }) => block.time), within(box))];
  });
}
