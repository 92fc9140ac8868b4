// A small menu that a button opens.
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Action {
  label: string;
  run: () => void;
}

export function Menu({ label, actions }: { label: string; actions: Action[] }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
  const close = () => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };

  useEffect(() => {
    if (!open) return;
    items()[0]?.focus();
    const outside = (event: Event) => !root.current?.contains(event.target as Node) && setOpen(false);
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open]);

  const key = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === 'Tab') return setOpen(false);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) return close();
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + step + all.length) % all.length]?.focus();
  };

  return (
    <div class="menu" ref={root} onKeyDown={key}>
      <button type="button" class="quiet" aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>{label}</button>
      {open && (
        <div role="menu" aria-label={label}>
          {actions.map((action) => (
            <button type="button" role="menuitem" key={action.label} onClick={() => { close(); action.run(); }}>{action.label}</button>
          ))}
        </div>
      )}
    </div>
  );
}
