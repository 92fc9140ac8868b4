// Figures of a run that are drawn against the batch.
import type { FieldRef } from '../../data/fields';
import { finite } from '../../format';
import type { Run } from '../../schema';

export interface Metric {
  id: string;
  label: string;
  of: FieldRef;
  value: (run: Run) => number | null;
}

export interface Spread {
  id: string;
  label: string;
  range: (run: Run) => readonly [number, number] | null;
}

const metric = (id: string, label: string, struct: string, field: string, value: (run: Run) => unknown): Metric => ({
  id, label, of: { struct, field }, value: (run) => finite(value(run)),
});

export const LATENCY = metric('latency', 'Latency', 'Times', 'p50', (run) => run.latency_ms.p50);
export const THROUGHPUT = metric('throughput', 'Throughput', 'Run', 'throughput_per_s', (run) => run.throughput_per_s);

export const MEMORY: Metric[] = [
  metric('peak', 'Peak memory of the process', 'Run', 'peak_memory_mb', (run) => run.peak_memory_mb),
  metric('process', 'Memory of the device, whole process', 'RunDeviceMemory', 'process_mb', (run) => run.device_memory?.process_mb),
  metric('driver', 'Memory of the device, by the driver', 'RunDeviceMemory', 'driver_mb', (run) => run.device_memory?.driver_mb),
  metric('allocated', 'Memory of the device, allocated', 'RunDeviceMemory', 'allocated_mb', (run) => run.device_memory?.allocated_mb),
  metric('planned', 'Memory of the device, planned', 'RunDeviceMemory', 'planned_mb', (run) => run.device_memory?.planned_mb),
  metric('activations', 'Activations', 'RunMemory', 'activations_mb', (run) => run.memory.activations_mb),
];

export const SIZE: Metric[] = [
  metric('weights', 'Weights', 'RunMemory', 'weights_mb', (run) => run.memory.weights_mb),
  metric('engine', 'Engine file', 'RunMemory', 'engine_file_mb', (run) => run.memory.engine_file_mb),
];

function between(low: unknown, high: unknown): readonly [number, number] | null {
  const [a, b] = [finite(low), finite(high)];
  return a === null || b === null ? null : [a, b];
}

/// The highest percentile that the number of samples supports; the others would be luck.
export function tailOf(run: Run): 'p99' | 'p95' | 'p90' | 'p50' {
  const supported = Array.isArray(run.latency_ms.supported) ? run.latency_ms.supported : [];
  return (['p99', 'p95', 'p90'] as const).find((name) => supported.includes(name)) ?? 'p50';
}

export const SPREADS: Spread[] = [
  { id: 'interval', label: '95 % of the median', range: ({ latency_ms: l }) => between(l.p50_interval?.[0], l.p50_interval?.[1]) },
  { id: 'tail', label: 'shortest to p99', range: (run) => between(run.latency_ms.min, run.latency_ms[tailOf(run)]) },
];
