// Which rows of a long table are in sight.
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';

export const ROW_PX = 32;
const MANY = 500;
const MARGIN = 12;
/// More rows than this are in sight nowhere.
const TALLEST = 80;

export function useWindow(box: RefObject<HTMLElement>, rows: number) {
  const [top, setTop] = useState(0);
  const windowed = rows > MANY;
  const first = windowed ? Math.max(0, Math.min(rows - TALLEST, Math.floor(top / ROW_PX) - MARGIN)) : 0;
  const last = windowed ? Math.min(rows, first + TALLEST + 2 * MARGIN) : rows;

  const reveal = (index: number) => {
    if (!box.current || !windowed) {
      box.current?.querySelector(`tr[data-index="${index}"]`)?.scrollIntoView({ block: 'nearest' });
      return;
    }
    const { scrollTop, clientHeight } = box.current;
    const at = index * ROW_PX;
    if (at < scrollTop) box.current.scrollTop = at;
    else if (at + 2 * ROW_PX > scrollTop + clientHeight) box.current.scrollTop = at + 2 * ROW_PX - clientHeight;
    setTop(box.current.scrollTop);
  };
  const onScroll = () => windowed && box.current && setTop(box.current.scrollTop);
  return { windowed, first, last, above: first * ROW_PX, below: (rows - last) * ROW_PX, reveal, onScroll };
}
