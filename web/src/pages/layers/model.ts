// The layers of a profile in the shape that the page draws, whatever the document holds.
import { dict, dicts, known, listed, ratio, text } from '../../data/safe';
import { finite } from '../../format';
import type { Layer, LayerAnalysis, LayerKernel, LayerRival, TimeSummary } from '../../schema';

export interface LayerRow {
  /// Its place in the order in which layers run; names may repeat.
  key: string;
  index: number;
  name: string;
  kind: string;
  tactic: string;
  inputs: string[];
  outputs: string[];
  sources: string[];
  kernels: Partial<LayerKernel>[];
  time: Partial<TimeSummary>;
  /// Mean time by the mean sum of all layers: shares add up to 1.
  share: number | null;
  flops: number | null;
  bytes: number | null;
  flopsPerSecond: number | null;
  bytesPerSecond: number | null;
  floor: number | null;
  headroom: number | null;
  /// Places, among the rows, of the earlier ones whose outputs it reads.
  reads: number[];
  rivals: Partial<LayerRival>[];
}

/// More edges than any model has.
const MOST_READS = 50_000;

function rowOf(layer: Partial<Layer>, index: number, sum: unknown): LayerRow {
  const time = dict<TimeSummary>(layer.time);
  return {
    key: String(index), index, name: text(layer.name), kind: text(layer.kind), tactic: text(layer.tactic),
    inputs: listed(layer.inputs), outputs: listed(layer.outputs), sources: listed(layer.sources),
    kernels: dicts<LayerKernel>(layer.kernels), time, share: ratio(time.mean_ns, sum),
    flops: known(layer.flops), bytes: known(layer.bytes),
    flopsPerSecond: known(layer.flops_per_second), bytesPerSecond: known(layer.bytes_per_second),
    floor: known(layer.floor_ns), headroom: known(layer.over_floor),
    reads: [], rivals: dicts<LayerRival>(layer.rivals),
  };
}

/// Gives rows the edges that can be: those to an earlier row.
function addReads(rows: LayerRow[], layers: Partial<Layer>[]): void {
  let total = 0;
  for (const [i, { predecessors }] of layers.entries()) {
    const named: unknown[] = Array.isArray(predecessors) ? predecessors : [];
    if ((total += named.length) > MOST_READS) break;
    const places = named.filter((one): one is number => Number.isInteger(one) && (one as number) >= 0 && (one as number) < i);
    rows[i]!.reads = [...new Set(places)].sort((a, b) => a - b);
  }
  if (total > MOST_READS) for (const row of rows) row.reads = [];
}

export function rowsOf(layers: Partial<LayerAnalysis>): LayerRow[] {
  const sum = dict<TimeSummary>(layers.layer_sum).mean_ns;
  const all = dicts<Layer>(layers.layers);
  const rows = all.map((layer, i) => rowOf(layer, i, sum));
  // A layer that is left out shifts all places after it, so that nobody knows any more what they mean.
  if (Array.isArray(layers.layers) && all.length === layers.layers.length) addReads(rows, all);
  return rows;
}

/// For each row, the later ones that read from it.
export function readersOf(rows: LayerRow[]): number[][] {
  const readers: number[][] = rows.map(() => []);
  for (const row of rows) for (const from of row.reads) readers[from]!.push(row.index);
  return readers;
}

export const meanOf = (row: LayerRow): number => Math.max(0, finite(row.time.mean_ns) ?? 0);

/// Kinds, those that take most time first: this is the order of their colours.
export function kindsOf(rows: LayerRow[]): string[] {
  const times = new Map<string, number>();
  for (const row of rows) times.set(row.kind, (times.get(row.kind) ?? 0) + meanOf(row));
  return [...times].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
}

export const kindName = (kind: string): string => kind || 'of no kind';
