// Details of a selection, next to the page it was made in. Esc closes it.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface DrawerProps {
  title: ComponentChildren;
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Drawer({ title, label, onClose, children }: DrawerProps) {
  useEffect(() => {
    // Before what lies below hears of it: a chart would forget where its reader is.
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      onClose();
    };
    addEventListener('keydown', key, true);
    return () => removeEventListener('keydown', key, true);
  }, [onClose]);
  return (
    <aside class="drawer" aria-label={label} tabIndex={-1}>
      <header><h2>{title}</h2><button type="button" class="quiet" onClick={onClose} aria-label="Close the details">Close</button></header>
      {children}
    </aside>
  );
}

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

/// Nothing where there is nothing to say.
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  if (children === null || children === undefined || children === '') return null;
  return <><dt>{name}</dt><dd>{children}</dd></>;
}
