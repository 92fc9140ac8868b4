// The layers of a profile in the shape that the page draws, whatever the document holds.
import { dict, dicts, known, listed, ratio, text } from '../../data/safe';
import { finite } from '../../format';
import type { Layer, LayerAnalysis, LayerKernel, TimeSummary } from '../../schema';

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
}

function rowOf(layer: Partial<Layer>, index: number, sum: unknown): LayerRow {
  const time = dict<TimeSummary>(layer.time);
  return {
    key: String(index), index, name: text(layer.name), kind: text(layer.kind), tactic: text(layer.tactic),
    inputs: listed(layer.inputs), outputs: listed(layer.outputs), sources: listed(layer.sources),
    kernels: dicts<LayerKernel>(layer.kernels), time, share: ratio(time.mean_ns, sum),
    flops: known(layer.flops), bytes: known(layer.bytes),
    flopsPerSecond: known(layer.flops_per_second), bytesPerSecond: known(layer.bytes_per_second),
    floor: known(layer.floor_ns), headroom: known(layer.over_floor),
  };
}

export function rowsOf(layers: Partial<LayerAnalysis>): LayerRow[] {
  const sum = dict<TimeSummary>(layers.layer_sum).mean_ns;
  return dicts<Layer>(layers.layers).map((layer, i) => rowOf(layer, i, sum));
}

export const meanOf = (row: LayerRow): number => Math.max(0, finite(row.time.mean_ns) ?? 0);

/// Kinds, those that take most time first: this is the order of their colours.
export function kindsOf(rows: LayerRow[]): string[] {
  const times = new Map<string, number>();
  for (const row of rows) times.set(row.kind, (times.get(row.kind) ?? 0) + meanOf(row));
  return [...times].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
}

export const kindName = (kind: string): string => kind || 'of no kind';
