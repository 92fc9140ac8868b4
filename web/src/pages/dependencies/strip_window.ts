// The part of the path in sight: kept here while it moves, and in the address once it rests.
import { useEffect, useState } from 'preact/hooks';
import { setQuery } from '../../route';
import type { Window } from './strip_rects';

const NARROWEST_NS = 50;
const REST_MS = 250;

export function fitted({ from, to }: Window, wall: number): Window {
  const length = Math.min(wall, Math.max(Math.min(NARROWEST_NS, wall), to - from));
  const start = Math.min(Math.max(0, from), wall - length);
  return { from: start, to: start + length };
}

/// By this factor around a point, which stays where it is.
export function zoomed({ from, to }: Window, factor: number, around: number, wall: number): Window {
  return fitted({ from: around - (around - from) * factor, to: around + (to - around) * factor }, wall);
}

function parsed(text: string | null, wall: number): Window {
  const [from, to] = (text ?? '').split('~').map(Number);
  return Number.isFinite(from) && Number.isFinite(to) && to! > from! ? fitted({ from: from!, to: to! }, wall) : { from: 0, to: wall };
}

const textOf = ({ from, to }: Window, wall: number): string | null => (from <= 0 && to >= wall ? null : `${Math.round(from)}~${Math.round(to)}`);

export function useStripWindow(query: string | null, wall: number): [Window, (next: Window) => void] {
  const [window, setWindow] = useState(() => parsed(query, wall));
  useEffect(() => {
    if (textOf(window, wall) !== query) setWindow(parsed(query, wall));
  }, [query, wall]);
  useEffect(() => {
    const text = textOf(window, wall);
    if (text === query) return;
    const timer = setTimeout(() => setQuery({ window: text }), REST_MS);
    return () => clearTimeout(timer);
  }, [window]);
  return [window, setWindow];
}
