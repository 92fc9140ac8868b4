// The model as a tree: layers under the blocks in the dotted names of their nodes, or under their kinds.
import { kindName, meanOf, type LayerRow } from './model';

export interface Block {
  /// Names from the root to here, which is also its address.
  path: string[];
  name: string;
  time: number;
  layers: number;
  children: Block[];
  /// Only of a leaf.
  row?: LayerRow;
}

const DEEPEST = 8;
const parts = (name: string): string[] => name.split(/[./]/).filter(Boolean);

/// The common blocks of all nodes of a layer.
export function pathOf(row: LayerRow): string[] {
  const paths = row.sources.map((source) => parts(source).slice(0, -1));
  const [first = []] = paths;
  const end = first.findIndex((part, i) => paths.some((path) => path[i] !== part));
  return (end < 0 ? first : first.slice(0, end)).slice(0, DEEPEST);
}

function insert(root: Block, path: string[], row: LayerRow): void {
  let at = root;
  at.time += meanOf(row);
  at.layers += 1;
  for (const name of path) {
    let next = at.children.find((child) => !child.row && child.name === name);
    if (!next) at.children.push((next = { path: [...at.path, name], name, time: 0, layers: 0, children: [] }));
    next.time += meanOf(row);
    next.layers += 1;
    at = next;
  }
  at.children.push({ path: [...at.path, row.key], name: row.name, time: meanOf(row), layers: 1, children: [], row });
}

export function treeOf(rows: LayerRow[], by: 'block' | 'kind'): Block {
  const root: Block = { path: [], name: 'All layers', time: 0, layers: 0, children: [] };
  for (const row of rows) insert(root, by === 'kind' ? [kindName(row.kind)] : pathOf(row), row);
  return root;
}

/// As far as the path leads.
export function find(root: Block, path: string[]): Block {
  let at = root;
  for (const name of path) {
    const next = at.children.find((child) => !child.row && child.name === name);
    if (!next) break;
    at = next;
  }
  return at;
}
