// Shapes and definitions of what the document holds.

export interface Field {
  unit: string;
  text: string;
  origin: string;
}

export interface Percentiles {
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  mean: number | null;
  sd: number | null;
  n: number;
  min?: number | null;
  max?: number | null;
  p50_interval?: [number, number] | null;
  supported?: string[];
}

export interface BenchMemory {
  baseline_mb: number | null;
  inputs_mb: number | null;
  weights_mb: number | null;
  activations_mb: number | null;
  engine_file_mb?: number | null;
}

export interface BenchDeviceMemory {
  planned_mb: number | null;
  allocated_mb: number | null;
  peak_allocated_mb: number | null;
  driver_mb: number | null;
  process_mb: number | null;
  streams_allocated_mb: number | null;
}

export interface BenchAccuracy {
  relative_l2: number | null;
  max_abs: number | null;
  top1_agreement: number | null;
  samples: number | null;
  reason: string | null;
}

export interface BenchSpeedup {
  over: { backend: string; precision: string };
  ratio: number;
  interval: [number, number] | null;
  differs: boolean;
  interleaved: boolean;
}

export interface BenchRun {
  model: string;
  backend: string;
  backend_version: string | null;
  device?: string;
  includes_transfers?: boolean;
  cold_l2?: boolean;
  precision: string;
  batch: number;
  threads: number;
  latency_ms: Percentiles;
  throughput_per_s: number | null;
  device_ms?: Percentiles | null;
  enqueue_ms?: Percentiles | null;
  pipelined?: { throughput_per_s: number; streams: number } | null;
  peak_memory_mb: number | null;
  memory: BenchMemory;
  device_memory?: BenchDeviceMemory | null;
  accuracy: BenchAccuracy;
  speedup: BenchSpeedup | null;
  load_ms: number | null;
  notes: string[];
  verdict: { valid: boolean; reasons: string[] };
  failure: string | null;
}

export interface BenchContext {
  date?: string;
  command_line?: string[];
  hone_version?: string;
  hone_commit?: string;
  host?: string;
  kernel?: string;
  cpu?: string;
  cores?: number;
  governor?: string | null;
  frequency_mhz?: number;
  memory_mb?: number;
  load_average?: number[];
  gpu?: { name: string; driver?: string; memory_mb?: number; power_limit_w?: number; max_sm_mhz?: number } | null;
}

export interface BenchSweep {
  schema: string;
  version: number;
  complete: boolean;
  context: BenchContext;
  options: { compare_to?: string; [option: string]: unknown };
  runs: BenchRun[];
}

export interface Doubt {
  severity: string;
  about: string;
  text: string;
  count: number;
}

export interface Analysis {
  schema: string;
  version: number;
  trace: string;
  doubts: Doubt[];
  [part: string]: any;
}

const measured = (unit: string, text: string): Field => ({ unit, text, origin: 'measured' });
const given = (text: string, unit = ''): Field => ({ unit, text, origin: 'given' });

export const fields: Record<string, Record<string, Field>> = {
  BenchRun: {
    model: given('What was measured: a built-in model or a file'),
    backend: given('System that ran the model'),
    backend_version: given('Version of that system'),
    device: given('Where it computed'),
    precision: given('Type of the arithmetic; fp32 is IEEE, without TF32'),
    batch: given('Samples in one run', 'count'),
    threads: given('Threads it was given', 'count'),
    throughput_per_s: measured('1/s', 'Samples a second: batch × runs by the wall time of back-to-back runs, one in flight'),
    peak_memory_mb: measured('MB', 'Most resident memory of the worker, libraries and input sets included (VmHWM)'),
    load_ms: measured('ms', 'Time to load the model, tactic search included'),
  },
  Percentiles: {
    p50: measured('ms', 'Median latency, nearest rank: half of the runs took no longer. A latency is synchronous, from the call until all outputs are computed'),
    p90: measured('ms', '90 % of the runs took no longer'),
    p95: measured('ms', '95 % of the runs took no longer'),
    p99: measured('ms', '99 % of the runs took no longer'),
    mean: measured('ms', 'Sum of the latencies by their number'),
    sd: measured('ms', 'Standard deviation of the sample (divided by n - 1)'),
    n: measured('count', 'Number of measured runs'),
    min: measured('ms', 'Shortest run'),
    max: measured('ms', 'Longest run'),
    p50_interval: { unit: 'ms', text: '95 % confidence interval of the median, from order statistics', origin: 'estimated' },
  },
  BenchMemory: {
    baseline_mb: measured('MB', 'Resident memory of the worker before it loads the model'),
    inputs_mb: measured('MB', 'Input sets that are used in rotation'),
    weights_mb: { unit: 'MB', text: 'Weights, as the backend reports them', origin: 'given' },
    activations_mb: { unit: 'MB', text: 'Activations, as the backend reports them', origin: 'given' },
    engine_file_mb: measured('MB', 'Size of the engine on disk'),
  },
  BenchDeviceMemory: {
    planned_mb: { unit: 'MB', text: 'What the plan of one context says', origin: 'estimated' },
    allocated_mb: measured('MB', 'What its allocations on the device hold with one context'),
    peak_allocated_mb: measured('MB', 'Most that its allocations held since the start, the tactic search included'),
    driver_mb: measured('MB', 'How much less memory was free on the device than before the model was loaded'),
    process_mb: measured('MB', 'Most that NVML saw the worker hold on the device, CUDA’s own context included'),
    streams_allocated_mb: measured('MB', 'What its allocations hold with all streams'),
  },
  BenchAccuracy: {
    relative_l2: measured('', 'Relative L2 error against the fp32 reference: the worst output and sample'),
    max_abs: measured('', 'Largest absolute error against the fp32 reference'),
    top1_agreement: measured('share', 'Samples with the same largest element in the first output as the reference'),
  },
  BenchSpeedup: {
    ratio: measured('ratio', 'Median latency of the baseline by that of this run, at the same batch'),
    interval: { unit: 'ratio', text: '95 % interval of the speedup: bootstrap over paired rounds, then samples. One that holds 1 reads “no difference”', origin: 'estimated' },
  },
};
