// Where the reader is: the hash of the address, as a path and a query. Every view and selection has one.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  path: string[];
  query: URLSearchParams;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

/// The address of a view, for href. Empty and null values are left out.
export function link(path: string[], query: Record<string, string | null> = {}): string {
  const set = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) set.set(key, value);
  const tail = set.size ? `?${set}` : '';
  return `#/${path.map(encodeURIComponent).join('/')}${tail}`;
}

const listeners = new Set<() => void>();

export function go(path: string[], query: Record<string, string | null> = {}): void {
  location.hash = link(path, query);
}

/// Changes parts of the query and keeps the rest. Selections do not fill the history.
export function setQuery(changes: Record<string, string | null>): void {
  const { path, query } = parse(location.hash);
  const all = { ...Object.fromEntries(query), ...changes };
  history.replaceState(null, '', link(path, all));
  for (const listener of listeners) listener();
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    listeners.add(update);
    addEventListener('hashchange', update);
    return () => {
      listeners.delete(update);
      removeEventListener('hashchange', update);
    };
  }, []);
  return parse(hash);
}
