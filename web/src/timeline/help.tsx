// The list of keys and gestures.

import { useEffect, useRef } from 'preact/hooks';

const kKeys: [string, string][] = [
  ['W S, + −, ctrl+wheel, pinch', 'zoom'],
  ['A D, ← →, drag, shift+wheel', 'move in time'],
  ['↑ ↓, wheel', 'scroll the tracks'],
  ['shift+drag, drag on the ruler, M', 'measure between two points'],
  ['click, Tab, shift+Tab', 'select an event, the next, the one before'],
  ['Esc, then Tab', 'leave the timeline'],
  ['F, double click', 'fit the selection or the event'],
  ['0', 'show the whole trace'],
  ['G', 'go to the launch of the selection, or to what it launched'],
  ['/', 'search; Enter and shift+Enter, N and shift+N step'],
  ['C', 'critical path'],
  ['drag on the strip on top', 'choose or move the window'],
  ['Esc', 'close, then clear'],
];

export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="tl-help" ref={dialog} onClose={onClose} aria-label="Keys and gestures"
      onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}>
      <h3>Keys and gestures</h3>
      <dl>{kKeys.map(([keys, what]) => <div key={what}><dt>{keys}</dt><dd>{what}</dd></div>)}</dl>
      <form method="dialog"><button class="tl-button">Close</button></form>
    </dialog>
  );
}
