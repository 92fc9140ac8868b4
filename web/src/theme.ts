// Light or dark: what the system says until the reader decides; the decision is remembered.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';
const KEY = 'hone-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
/// Paper is light, whatever the reader chose for the screen.
const printing = matchMedia('print');
const listeners = new Set<() => void>();

// Pages from files may have no storage.
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

let chosen = stored();

export function theme(): Theme {
  if (printing.matches) return 'light';
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return system.matches ? 'dark' : 'light';
}

function apply(): void {
  document.documentElement.dataset['theme'] = theme();
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  chosen = theme() === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Only remembered for as long as the page is open.
  }
  apply();
}

export function useTheme(): Theme {
  const [now, setNow] = useState(theme());
  useEffect(() => {
    const update = () => setNow(theme());
    listeners.add(update);
    update();
    return () => void listeners.delete(update);
  }, []);
  return now;
}

for (const query of [system, printing]) query.addEventListener('change', apply);
apply();
