// Figures of a run that are drawn against the batch.
import type { FieldRef } from '../../data/fields';
import { finite } from '../../format';
import type { BenchRun } from '../../schema';

export interface Metric {
  id: string;
  label: string;
  of: FieldRef;
  value: (run: BenchRun) => number | null;
}

export interface Spread {
  id: string;
  label: string;
  range: (run: BenchRun) => readonly [number, number] | null;
}

const metric = (id: string, label: string, struct: string, field: string, value: (run: BenchRun) => unknown): Metric => ({
  id, label, of: { struct, field }, value: (run) => finite(value(run)),
});

export const LATENCY = metric('latency', 'Latency', 'Percentiles', 'p50', (run) => run.latency_ms.p50);
export const THROUGHPUT = metric('throughput', 'Throughput', 'BenchRun', 'throughput_per_s', (run) => run.throughput_per_s);

export const MEMORY: Metric[] = [
  metric('peak', 'Peak memory of the process', 'BenchRun', 'peak_memory_mb', (run) => run.peak_memory_mb),
  metric('process', 'Memory of the device, whole process', 'BenchDeviceMemory', 'process_mb', (run) => run.device_memory?.process_mb),
  metric('driver', 'Memory of the device, by the driver', 'BenchDeviceMemory', 'driver_mb', (run) => run.device_memory?.driver_mb),
  metric('allocated', 'Memory of the device, allocated', 'BenchDeviceMemory', 'allocated_mb', (run) => run.device_memory?.allocated_mb),
  metric('planned', 'Memory of the device, planned', 'BenchDeviceMemory', 'planned_mb', (run) => run.device_memory?.planned_mb),
  metric('activations', 'Activations', 'BenchMemory', 'activations_mb', (run) => run.memory.activations_mb),
];

export const SIZE: Metric[] = [
  metric('weights', 'Weights', 'BenchMemory', 'weights_mb', (run) => run.memory.weights_mb),
  metric('engine', 'Engine file', 'BenchMemory', 'engine_file_mb', (run) => run.memory.engine_file_mb),
];

function between(low: unknown, high: unknown): readonly [number, number] | null {
  const [a, b] = [finite(low), finite(high)];
  return a === null || b === null ? null : [a, b];
}

/// The highest percentile that the number of samples supports; the others would be luck.
export function tailOf(run: BenchRun): 'p99' | 'p95' | 'p90' | 'p50' {
  const supported = Array.isArray(run.latency_ms.supported) ? run.latency_ms.supported : [];
  return (['p99', 'p95', 'p90'] as const).find((name) => supported.includes(name)) ?? 'p50';
}

export const SPREADS: Spread[] = [
  { id: 'interval', label: '95 % of the median', range: ({ latency_ms: l }) => between(l.p50_interval?.[0], l.p50_interval?.[1]) },
  { id: 'tail', label: 'shortest to p99', range: (run) => between(run.latency_ms.min, run.latency_ms[tailOf(run)]) },
];
