// How large the graph is drawn, and dragging it.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

const LEAST = 0.08;
const MOST = 2;
export const ZOOM_STEP = 1.25;

export const limited = (zoom: number): number => Math.min(MOST, Math.max(LEAST, zoom));

/// The scale that shows all of a drawing in a box, but nothing larger than it is.
export const fitting = (width: number, height: number, box: { width: number; height: number }): number =>
  limited(Math.min(1, box.width / width, box.height / height));

/// Ctrl and the wheel zoom around the pointer; dragging the ground moves what is shown.
export function usePan(host: RefObject<HTMLElement>, onZoom: (by: number, x: number, y: number) => void): void {
  useEffect(() => {
    const box = host.current;
    if (!box) return;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = box.getBoundingClientRect();
      onZoom(Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0 || event.pointerType !== 'mouse' || (event.target as Element).closest('[role=button]')) return;
      const start = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
      const move = (to: PointerEvent) => { box.scrollLeft = start.x - to.clientX; box.scrollTop = start.y - to.clientY; };
      const up = () => {
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', up);
        removeEventListener('pointercancel', up);
      };
      addEventListener('pointermove', move);
      addEventListener('pointerup', up);
      addEventListener('pointercancel', up);
    };
    box.addEventListener('wheel', wheel, { passive: false });
    box.addEventListener('pointerdown', down);
    return () => {
      box.removeEventListener('wheel', wheel);
      box.removeEventListener('pointerdown', down);
    };
  }, [host, onZoom]);
}
