// What the program writes for the page. Made from the structs in src/ by a test, which fails when they
// part: HONE_WRITE_DOCS=1 build/release/bin/report_test --gtest_filter='PageSchema.*' writes it anew.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Times {
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  mean: number | null;
  sd: number | null;
  n: number;
  min: number | null;
  max: number | null;
  p50_interval: (number | null)[] | null;
  supported: string[];
}

export interface Pipelined {
  throughput_per_s: number | null;
  streams: number;
  includes_transfers: boolean;
  runs: number;
  seconds: number | null;
}

export interface RunMemory {
  baseline_mb: number | null;
  inputs_mb: number | null;
  weights_mb: number | null;
  activations_mb: number | null;
  engine_file_mb: number | null;
}

export interface RunDeviceMemory {
  planned_mb: number | null;
  allocated_mb: number | null;
  peak_allocated_mb: number | null;
  driver_mb: number | null;
  process_mb: number | null;
  streams_allocated_mb: number | null;
}

export interface MemoryGrowth {
  runs: number;
  resident_mb: (number | null)[] | null;
  device_mb: (number | null)[] | null;
}

export interface Accuracy {
  relative_l2: number | null;
  max_abs: number | null;
  top1_agreement: number | null;
  samples: number;
  reason: string | null;
}

export interface SystemName {
  backend: string;
  precision: string;
}

export interface Speedup {
  over: SystemName;
  ratio: number | null;
  interval: (number | null)[] | null;
  differs: boolean;
  interleaved: boolean;
}

export interface Warmup {
  runs: number;
  seconds: number | null;
  stationary: boolean;
}

export interface MachineState {
  other_cpu_share: number | null;
  near_cpu_share: number | null;
  steal_share: number | null;
  throttle_events: number;
  gpu: Json;
}

export interface Verdict {
  valid: boolean;
  reasons: string[];
}

export interface Run {
  model: string;
  backend: string;
  precision: string;
  batch: number;
  device: string;
  threads: number;
  includes_transfers: boolean;
  cold_l2: boolean;
  streams: number;
  busy_threads: number;
  session: number | null;
  backend_version: string;
  latency_ms: Times;
  throughput_per_s: number | null;
  device_ms: Times | null;
  enqueue_ms: Times | null;
  h2d_ms: Times | null;
  d2h_ms: Times | null;
  pipelined: Pipelined | null;
  peak_memory_mb: number | null;
  memory: RunMemory;
  device_memory: RunDeviceMemory | null;
  growth: MemoryGrowth | null;
  accuracy: Accuracy;
  int8_share: number | null;
  speedup: Speedup | null;
  load_ms: number | null;
  warmup: Warmup;
  machine: MachineState;
  predicted_ms: number | null;
  notes: string[];
  verdict: Verdict;
  failure: string | null;
  samples_ms: ((number | null)[])[];
  block_wall_ms: (number | null)[];
}

export interface Sweep {
  schema: string;
  version: number;
  complete: boolean;
  context: Json;
  options: Json;
  runs: Run[];
}

export interface RunPair {
  model: string;
  backend: string;
  precision: string;
  batch: number;
  device: string;
  threads: number;
  includes_transfers: boolean;
  cold_l2: boolean;
  streams: number;
  busy_threads: number;
  speedup: Speedup;
}

export interface ReportSweep {
  id: string;
  path: string;
  sweep: Sweep;
  pairs: RunPair[];
}

export interface Doubt {
  severity: string;
  about: string;
  text: string;
  count: number;
}

export interface Activity {
  kind: string;
  name: string;
  calls: number;
  share: number | null;
  total_ns: number;
  average_ns: number | null;
  median_ns: number | null;
  min_ns: number | null;
  max_ns: number | null;
  sd_ns: number | null;
  tensor_cores: boolean;
  tensor_cores_by: string;
  blocks_per_sm: number | null;
  occupancy: number | null;
  grid: number[] | null;
  block: number[] | null;
}

export interface Volume {
  kind: string;
  direction: string;
  count: number;
  bytes: number;
  busy_ns: number;
  bytes_per_second: number | null;
  average_bytes: number | null;
  median_bytes: number | null;
  min_bytes: number | null;
  max_bytes: number | null;
  sd_bytes: number | null;
}

export interface ActivitySummary {
  start_ns: number;
  end_ns: number;
  gpu_activities: Activity[];
  api_calls: Activity[];
  ranges: Activity[];
  thread_calls: Activity[];
  transfers: Volume[];
}

export interface TimeSummary {
  n: number;
  mean_ns: number | null;
  sd_ns: number | null;
  min_ns: number | null;
  max_ns: number | null;
  p25_ns: number | null;
  median_ns: number | null;
  p75_ns: number | null;
  median_low_ns: number | null;
  median_high_ns: number | null;
}

export interface Trend {
  slope: number | null;
  low: number | null;
  high: number | null;
  certain: boolean;
}

export interface CategoryCost {
  mean_ns: number | null;
  median_ns: number | null;
  p25_ns: number | null;
  p75_ns: number | null;
  min_ns: number | null;
  max_ns: number | null;
  sd_ns: number | null;
  share: number | null;
}

export interface Step {
  name: string;
  start_ns: number;
  end_ns: number;
  host_start_ns: number;
  host_end_ns: number;
  device_events: number;
  costs: Record<string, number>;
  profiler_overhead_ns: number;
}

export interface StepBreakdown {
  announced: boolean;
  step: TimeSummary;
  trend_ns: Trend | null;
  categories: Record<string, CategoryCost>;
  steps: Step[];
  notes: string[];
}

export interface ShareFigure {
  value: number | null;
  origin: string;
  coverage: number | null;
}

export interface CounterMean {
  name: string;
  unit: string;
  mean: number | null;
  min: number | null;
  max: number | null;
  samples: number;
}

export interface DeviceUsage {
  device: number;
  name: string;
  memory_bytes: number;
  compute_capability: string;
  multiprocessors: number;
  kernels: number;
  kernel_time_ns: number;
  busy_ns: number;
  utilization: ShareFigure;
  sm_efficiency: ShareFigure | null;
  occupancy: ShareFigure | null;
  tensor_cores: ShareFigure;
  measured_gr_active: ShareFigure | null;
  measured_sms_active: ShareFigure | null;
  measured_warps_active: ShareFigure | null;
  measured_tensor_active: ShareFigure | null;
  counters: CounterMean[];
}

export interface GpuUsage {
  start_ns: number;
  end_ns: number;
  devices: DeviceUsage[];
}

export interface KernelMetricRow {
  device: number;
  kernel: string;
  metric: string;
  unit: string;
  invocations: number;
  min: number | null;
  max: number | null;
  mean: number | null;
}

export interface KernelMetricTable {
  launches: number;
  rows: KernelMetricRow[];
}

export interface LayerKernel {
  name: string;
  calls: number | null;
}

export interface LayerRival {
  tactic: string;
  layout: string;
  time_ns: number | null;
  chosen: boolean;
  refusal: string;
}

export interface Layer {
  name: string;
  kind: string;
  tactic: string;
  inputs: string;
  outputs: string;
  sources: string;
  time: TimeSummary;
  kernels: LayerKernel[];
  flops: number | null;
  bytes: number | null;
  flops_per_second: number | null;
  bytes_per_second: number | null;
  floor_ns: number | null;
  over_floor: number | null;
  predecessors: number[];
  rivals: LayerRival[];
}

export interface LayerThreads {
  name: string;
  calls: number;
  wall_ns: number | null;
  cpu_ns: number | null;
  slowest_thread_ns: number | null;
  imbalance: number | null;
  cycles: number | null;
  instructions: number | null;
  cache_misses: number | null;
}

export interface LayerThreadTable {
  threads: number;
  layers: LayerThreads[];
}

export interface LayerAnalysis {
  layers: Layer[];
  layer_sum: TimeSummary;
  other_device: TimeSummary;
  device_busy: TimeSummary;
  host: TimeSummary;
  iteration: TimeSummary;
  iteration_trend_ns: Trend | null;
  notes: string[];
  threads: LayerThreadTable;
}

export interface FunctionTime {
  kind: string;
  name: string;
  calls: number;
  critical_path_ns: number;
  share: number | null;
  waiting_ns: number;
  device_waiting_ns: number;
  queue_delay_ns: number;
  blame_ns: number;
}

export interface SegmentTable {
  columns: string[];
  rows: number[][];
  left_out: number;
}

export interface DeviceClock {
  device: number;
  offset_ns: number;
  launches: number;
  waits: number;
  violations_before: number;
  violations_left: number;
  largest_left_ns: number;
}

export interface CriticalPath {
  start_ns: number;
  end_ns: number;
  wall_ns: number;
  waiting_ns: number;
  profiler_overhead_ns: number;
  functions: FunctionTime[];
  segments: SegmentTable;
  clock: DeviceClock[];
  doubts: Doubt[];
}

export interface WhatIf {
  change: string;
  name: string;
  factor: number | null;
  wall_ns: number;
  gain_ns: number;
  share: number | null;
  at_most: boolean;
}

export interface WhatIfs {
  wall_ns: number;
  changes: WhatIf[];
}

export interface Dependencies {
  critical_path: CriticalPath;
  what_if: WhatIfs;
}

export interface IdleRow {
  cause: string;
  name: string;
  time_ns: number;
  share: number | null;
  gaps: number;
}

export interface DeviceIdle {
  device: number;
  start_ns: number;
  end_ns: number;
  busy_ns: number;
  idle_ns: number;
  gaps: number;
  longest_gap_ns: number;
  causes: IdleRow[];
}

export interface IdleTime {
  devices: DeviceIdle[];
}

export interface OperatorRow {
  name: string;
  input_shapes: string | null;
  calls: number;
  host_self_ns: number;
  host_total_ns: number;
  device_self_ns: number;
  device_total_ns: number;
  device_tensor_core_ns: number;
  tensor_core_eligible_by_name: boolean;
}

export interface OperatorTable {
  start_ns: number;
  end_ns: number;
  operators: OperatorRow[];
  unjoined_device_events: number;
  unjoined_device_ns: number;
}

export interface Traffic {
  copies: number;
  bytes: number | null;
  busy_ns: number;
  bytes_per_second: number | null;
}

export interface Overlap {
  step: string;
  length_ns: number;
  directions: Record<string, Traffic>;
  link_ns: number;
  compute_ns: number;
  both_ns: number;
  link_only_ns: number;
  compute_only_ns: number;
  other_ns: number;
  idle_ns: number;
}

export interface DeviceTransfers {
  device: number;
  total: Overlap;
  hideable_ns: number;
  steps: Overlap[];
}

export interface TransferAnalysis {
  devices: DeviceTransfers[];
}

export interface MemoryOwner {
  name: string;
  bytes: number;
  allocations: number;
}

export interface MemoryPoint {
  time_ns: number;
  allocated_bytes: number;
  reserved_bytes: number | null;
}

export interface DeviceMemory {
  device: number;
  allocations: number;
  frees: number;
  totals_by_allocator: boolean;
  addressed: boolean;
  peak_time_ns: number;
  peak_bytes: number;
  reserved_peak_bytes: number | null;
  live_at_end_bytes: number;
  unknown_frees: number;
  older_at_peak_bytes: number;
  at_peak: MemoryOwner[];
  curve: MemoryPoint[];
}

export interface MemoryTimeline {
  start_ns: number;
  end_ns: number;
  devices: DeviceMemory[];
}

export interface Evidence {
  text: string;
  start_ns: number | null;
  end_ns: number | null;
}

export interface Advice {
  rule: string;
  problem: string;
  evidence: Evidence[];
  action: string;
  gain_at_best_ns: number | null;
  gain_basis: string;
}

export interface Unjudged {
  rule: string;
  reason: string;
}

export interface AdviceList {
  start_ns: number;
  end_ns: number;
  rules: number;
  advice: Advice[];
  unjudged: Unjudged[];
}

export interface Analysis {
  schema: string;
  version: number;
  trace: string;
  doubts: Doubt[];
  summary: ActivitySummary;
  steps: StepBreakdown;
  gpu: GpuUsage;
  metrics: KernelMetricTable;
  layers: LayerAnalysis;
  dependencies: Dependencies;
  idle: IdleTime;
  operators: OperatorTable;
  transfers: TransferAnalysis;
  memory: MemoryTimeline;
  advice: AdviceList;
}

export interface TimelineTrack {
  id: number;
  group: string;
  name: string;
  kind: string;
  first: number;
  count: number;
  depth: number;
  unit: string;
}

export interface TimelineSegment {
  track: number;
  start_ns: number;
  end_ns: number;
  name: number;
}

export interface TimelineColumn {
  name: string;
  type: string;
  offset: number;
  count: number;
}

export interface TimelineHeader {
  origin_ns: number;
  duration_ns: number;
  from_ns: number;
  to_ns: number;
  complete: boolean;
  resolution_ns: number;
  strings: string[];
  details: Json[];
  tracks: TimelineTrack[];
  path: TimelineSegment[];
  columns: TimelineColumn[];
}

export interface Profile {
  id: string;
  name: string;
  path: string;
  metadata: Record<string, string>;
  analysis: Analysis | null;
  timeline: TimelineHeader | null;
  ready: boolean;
}

export interface Estimate {
  mean_ns: number | null;
  half_width_ns: number | null;
}

export interface WaterfallBar {
  name: string;
  change_ns: number | null;
}

export interface MatchedLayers {
  a: string[];
  b: string[];
  kernels_a: string[];
  kernels_b: string[];
  time_a: Estimate;
  time_b: Estimate;
  change_ns: number | null;
  reasons: string[];
  certain: boolean;
}

export interface KernelExchange {
  a: string[];
  b: string[];
  layers: number;
  time_a_ns: number | null;
  time_b_ns: number | null;
  change_ns: number | null;
}

export interface TraceDiff {
  iteration_a: Estimate;
  iteration_b: Estimate;
  trend_a_ns: Trend | null;
  trend_b_ns: Trend | null;
  speedup: number | null;
  speedup_interval: (number | null)[] | null;
  speedup_undisturbed: boolean;
  waterfall: WaterfallBar[];
  layers: MatchedLayers[];
  kernels: KernelExchange[];
  notes: string[];
}

export interface ReportDiff {
  a: string;
  b: string;
  diff: TraceDiff;
}

export interface PartitionBackend {
  name: string;
  version: string;
  taken: number;
  measured: boolean;
  launch_us: number | null;
  input_us_per_mb: number | null;
  output_us_per_mb: number | null;
  input_copies: number;
  output_copies: number;
  synchronisations: number;
}

export interface PartitionPlan {
  name: string;
  refusal: string;
  blocks: number;
  borders: number;
  border_mb: number | null;
  nodes_ms: number | null;
  borders_ms: number | null;
  launches_ms: number | null;
  predicted_ms: number | null;
  measured_ms: number | null;
  samples: number;
  chosen: boolean;
}

export interface PartitionValue {
  name: string;
  type: string;
  bytes: number;
}

export interface PartitionBlock {
  backend: string;
  nodes: number[];
  counted: number;
  inputs: PartitionValue[];
  outputs: PartitionValue[];
  nodes_ms: number | null;
  launch_ms: number | null;
  measured_ms: number | null;
  note: string;
}

export interface PartitionBorder {
  value: PartitionValue;
  from: number;
  to: number;
  copies: number;
  synchronisations: number;
  time_ms: number | null;
}

export interface PartitionStatistics {
  nodes: number;
  supported: number;
  coverage: number | null;
  first_blocks: number;
  average_nodes: number | null;
  most_nodes: number;
  unsupported: Record<string, number>;
}

export interface PartitionWhatIf {
  min_block_size: number;
  blocks: number;
  first_blocks: number;
  predicted_ms: number | null;
}

export interface PartitionNode {
  name: string;
  op: string;
  counted: boolean;
  block: number;
  predecessors: number[];
  refusals: string[];
  times_us: (number | null)[];
}

export interface Partition {
  schema: string;
  version: number;
  model: string;
  fingerprint: string;
  device: string;
  precision: string;
  threads: number;
  input_shapes: Record<string, number[]>;
  min_block_size: number;
  excluded: string[];
  measured: boolean;
  times: string;
  algorithm: string;
  bound_ms: number | null;
  predicted_ms: number | null;
  measured_ms: number | null;
  backends: PartitionBackend[];
  plans: PartitionPlan[];
  blocks: PartitionBlock[];
  borders: PartitionBorder[];
  statistics: PartitionStatistics;
  what_if: PartitionWhatIf[];
  recommendations: string[];
  notes: string[];
  nodes: PartitionNode[];
}

export interface ReportPartition {
  id: string;
  path: string;
  partition: Partition;
}

export interface PipelineStage {
  name: string;
  p50_ms: number | null;
  p95_ms: number | null;
  rate: number | null;
  utilisation: number | null;
  waits_input: number | null;
  waits_output: number | null;
}

export interface PipelineTransfer {
  what: string;
  direction: string;
  copies: number;
  bytes: number;
  copies_a_frame: number | null;
  bytes_a_frame: number | null;
}

export interface Pipeline {
  schema: string;
  version: number;
  model: string;
  backend: string;
  device: string;
  precision: string;
  input: string;
  input_width: number;
  input_height: number;
  batch: number;
  streams: number;
  frames: number;
  dropped: number;
  damaged: number;
  corrupt: number;
  skipped: number;
  missing: number;
  detections: number;
  startup_seconds: number | null;
  wall_seconds: number | null;
  end_to_end_fps: number | null;
  inference_fps: number | null;
  cpu_seconds_a_frame: number | null;
  processor_rate: number | null;
  bound: number | null;
  bounded_by: string;
  advice: string;
  stages: PipelineStage[];
  transfers: PipelineTransfer[];
}

export interface ReportPipeline {
  id: string;
  path: string;
  pipeline: Pipeline;
}

export interface ReportProblem {
  path: string;
  text: string;
}

export interface Report {
  schema: string;
  version: number;
  generated: string;
  hone: string;
  live: boolean;
  sweeps: ReportSweep[];
  profiles: Profile[];
  diffs: ReportDiff[];
  diffs_left_out: number;
  partitions: ReportPartition[];
  pipelines: ReportPipeline[];
  problems: ReportProblem[];
}

export interface FieldMeaning {
  text: string;
  unit: string;
  origin: string;
}

/** What every field is: its definition, its unit, and how its number was come by. */
export const fields = {
  Times: {
    p50: { text: "Half of the runs take at most this (nearest rank)", unit: "ms", origin: "measured" },
    p90: { text: "90 % of the runs take at most this", unit: "ms", origin: "measured" },
    p95: { text: "95 % of the runs take at most this", unit: "ms", origin: "measured" },
    p99: { text: "99 % of the runs take at most this", unit: "ms", origin: "measured" },
    mean: { text: "Sum by number", unit: "ms", origin: "measured" },
    sd: { text: "Standard deviation of the sample", unit: "ms", origin: "measured" },
    n: { text: "Runs that were measured", unit: "count", origin: "measured" },
    min: { text: "Fastest run", unit: "ms", origin: "measured" },
    max: { text: "Slowest run", unit: "ms", origin: "measured" },
    p50_interval: { text: "95 % confidence interval of the median, from order statistics; null below 6 samples", unit: "ms", origin: "estimated" },
    supported: { text: "Percentiles that this number of runs supports", unit: "", origin: "" },
  },
  Pipelined: {
    throughput_per_s: { text: "Samples of the model per second when runs overlap", unit: "1/s", origin: "measured" },
    streams: { text: "Streams that they overlap on", unit: "count", origin: "" },
    includes_transfers: { text: "True if copies to the device and back are included", unit: "", origin: "" },
    runs: { text: "Runs that were measured", unit: "count", origin: "measured" },
    seconds: { text: "Time that they took", unit: "s", origin: "measured" },
  },
  RunMemory: {
    baseline_mb: { text: "Resident before the model was loaded", unit: "MB", origin: "measured" },
    inputs_mb: { text: "Inputs that the benchmark keeps", unit: "MB", origin: "recorded" },
    weights_mb: { text: "Weights, as the backend reports them", unit: "MB", origin: "recorded" },
    activations_mb: { text: "Activations, as the backend reports them", unit: "MB", origin: "recorded" },
    engine_file_mb: { text: "Size of the engine file", unit: "MB", origin: "measured" },
  },
  RunDeviceMemory: {
    planned_mb: { text: "Memory that the engine planned to take", unit: "MB", origin: "recorded" },
    allocated_mb: { text: "Memory that the backend's allocator holds", unit: "MB", origin: "recorded" },
    peak_allocated_mb: { text: "The most that it held", unit: "MB", origin: "recorded" },
    driver_mb: { text: "Decrease of the device's free memory by loading, as the driver reports it; only for systems measured one at a time", unit: "MB", origin: "measured" },
    process_mb: { text: "The worker's memory on the device, as the driver lists it", unit: "MB", origin: "measured" },
    streams_allocated_mb: { text: "Held with all streams of overlapping runs", unit: "MB", origin: "recorded" },
  },
  MemoryGrowth: {
    runs: { text: "Runs between the first and the last look", unit: "count", origin: "measured" },
    resident_mb: { text: "Resident memory at the first and at the last look", unit: "MB", origin: "measured" },
    device_mb: { text: "Memory taken on the device at the first and at the last look", unit: "MB", origin: "measured" },
  },
  Accuracy: {
    relative_l2: { text: "Length of the difference from the fp32 reference's outputs, by the length of those", unit: "ratio", origin: "measured" },
    max_abs: { text: "Largest difference of one output value", unit: "", origin: "measured" },
    top1_agreement: { text: "Samples for which the largest output is the same one", unit: "share", origin: "measured" },
    samples: { text: "Samples that were compared", unit: "count", origin: "measured" },
    reason: { text: "Why figures are absent", unit: "", origin: "" },
  },
  SystemName: {
    backend: { text: "System that ran the model", unit: "", origin: "" },
    precision: { text: "Precision it ran in", unit: "", origin: "" },
  },
  Speedup: {
    over: { text: "What it is compared with", unit: "", origin: "" },
    ratio: { text: "Median latency of that by the median latency of this: above 1 is faster", unit: "ratio", origin: "measured" },
    interval: { text: "95 % confidence interval of the ratio (bootstrap over rounds)", unit: "ratio", origin: "estimated" },
    differs: { text: "True if the interval leaves out 1: the difference is more than noise", unit: "", origin: "" },
    interleaved: { text: "True if both took turns in the same rounds", unit: "", origin: "" },
  },
  Warmup: {
    runs: { text: "Runs before the measured ones", unit: "count", origin: "measured" },
    seconds: { text: "Time that they took", unit: "s", origin: "measured" },
    stationary: { text: "True if latencies had settled", unit: "", origin: "" },
  },
  MachineState: {
    other_cpu_share: { text: "Time of the CPU that other processes used meanwhile", unit: "share", origin: "measured" },
    near_cpu_share: { text: "Part of that on the cores that the sweep may use and those that share a physical one with them", unit: "share", origin: "measured" },
    steal_share: { text: "Time that the hypervisor kept the CPU from this machine", unit: "share", origin: "measured" },
    throttle_events: { text: "Times that the CPU was throttled", unit: "count", origin: "measured" },
    gpu: { text: "Clocks, power, temperature and other processes of the GPU meanwhile", unit: "", origin: "" },
  },
  Verdict: {
    valid: { text: "Whether the figures can be relied on", unit: "", origin: "" },
    reasons: { text: "Why not", unit: "", origin: "" },
  },
  Run: {
    model: { text: "Model, as it was named", unit: "", origin: "" },
    backend: { text: "System that ran it", unit: "", origin: "" },
    precision: { text: "Precision it ran in", unit: "", origin: "" },
    batch: { text: "Samples of the model in a run", unit: "count", origin: "" },
    device: { text: "cpu, cuda, which is the first GPU, or cuda:1", unit: "", origin: "" },
    threads: { text: "Threads of the CPU", unit: "count", origin: "" },
    includes_transfers: { text: "Latencies include copies to the device and back", unit: "", origin: "" },
    cold_l2: { text: "The device's caches were emptied before every run", unit: "", origin: "" },
    streams: { text: "Streams that pipelined runs overlap on", unit: "count", origin: "" },
    busy_threads: { text: "Foreign threads that spun while runs were measured", unit: "count", origin: "" },
    session: { text: "Runs of a file with the same number took turns in the same rounds", unit: "", origin: "" },
    backend_version: { text: "Version of the system", unit: "", origin: "" },
    latency_ms: { text: "Time of one run, from the call to its outputs, with nothing else under way", unit: "ms", origin: "measured" },
    throughput_per_s: { text: "Samples of the model per second in back-to-back runs, one in flight", unit: "1/s", origin: "measured" },
    device_ms: { text: "From the first to the last step, by events of the device", unit: "ms", origin: "measured" },
    enqueue_ms: { text: "Host time to hand over a run", unit: "ms", origin: "measured" },
    h2d_ms: { text: "Copies to the device, by events of the device", unit: "ms", origin: "measured" },
    d2h_ms: { text: "Copies from the device, by events of the device", unit: "ms", origin: "measured" },
    pipelined: { text: "Runs that overlap", unit: "", origin: "" },
    peak_memory_mb: { text: "The most memory that the worker had resident", unit: "MB", origin: "measured" },
    memory: { text: "Parts of the worker's memory", unit: "", origin: "" },
    device_memory: { text: "Memory on the device", unit: "", origin: "" },
    growth: { text: "Memory that runs leave behind", unit: "", origin: "" },
    accuracy: { text: "Error against the fp32 reference", unit: "", origin: "" },
    int8_share: { text: "Share of the multiply-adds of convolutions and matrix products that runs on integers", unit: "share", origin: "recorded" },
    speedup: { text: "How fast it is beside the run it is compared with", unit: "", origin: "" },
    load_ms: { text: "Time to load or build the model", unit: "ms", origin: "measured" },
    warmup: { text: "Runs before the measured ones", unit: "", origin: "" },
    machine: { text: "What the machine was like meanwhile", unit: "", origin: "" },
    predicted_ms: { text: "Latency that hone partition predicted, of a partition", unit: "ms", origin: "estimated" },
    notes: { text: "What is to be known of the run", unit: "", origin: "" },
    verdict: { text: "Whether the figures can be relied on", unit: "", origin: "" },
    failure: { text: "Why there are no figures", unit: "", origin: "" },
    samples_ms: { text: "Every latency, a list for each round", unit: "ms", origin: "measured" },
    block_wall_ms: { text: "Time of each round's runs", unit: "ms", origin: "measured" },
  },
  Sweep: {
    schema: { text: "hone.bench", unit: "", origin: "" },
    version: { text: "Of the schema", unit: "", origin: "" },
    complete: { text: "False when the benchmark was interrupted", unit: "", origin: "" },
    context: { text: "Machine, libraries, commit and command line", unit: "", origin: "" },
    options: { text: "Options of the benchmark", unit: "", origin: "" },
    runs: { text: "A run for each configuration", unit: "", origin: "" },
  },
  RunPair: {
    model: { text: "Model, as it was named", unit: "", origin: "" },
    backend: { text: "System that ran it", unit: "", origin: "" },
    precision: { text: "Precision it ran in", unit: "", origin: "" },
    batch: { text: "Samples of the model in a run", unit: "count", origin: "" },
    device: { text: "cpu, cuda, which is the first GPU, or cuda:1", unit: "", origin: "" },
    threads: { text: "Threads of the CPU", unit: "count", origin: "" },
    includes_transfers: { text: "Latencies include copies to the device and back", unit: "", origin: "" },
    cold_l2: { text: "The device's caches were emptied before every run", unit: "", origin: "" },
    streams: { text: "Streams that pipelined runs overlap on", unit: "count", origin: "" },
    busy_threads: { text: "Foreign threads that spun while runs were measured", unit: "count", origin: "" },
    speedup: { text: "How fast the run is beside the other", unit: "", origin: "" },
  },
  ReportSweep: {
    id: { text: "Name for links", unit: "", origin: "" },
    path: { text: "File", unit: "", origin: "" },
    sweep: { text: "What the file holds", unit: "", origin: "" },
    pairs: { text: "Every two runs of a model and batch beside each other", unit: "", origin: "" },
  },
  Doubt: {
    severity: { text: "note: good to know; doubt: figures may be off; loss: something was not recorded", unit: "", origin: "" },
    about: { text: "Part of the trace that it concerns", unit: "", origin: "" },
    text: { text: "What is the matter", unit: "", origin: "" },
    count: { text: "How many times, where that can be told", unit: "count", origin: "" },
  },
  Activity: {
    kind: { text: "kernel, copy, set, api, range or thread", unit: "", origin: "" },
    name: { text: "Name of the kernel, copy, call or range", unit: "", origin: "" },
    calls: { text: "How often it ran", unit: "count", origin: "measured" },
    share: { text: "Its total by the total of the table", unit: "share", origin: "measured" },
    total_ns: { text: "All its times added up", unit: "ns", origin: "measured" },
    average_ns: { text: "Mean time of a call", unit: "ns", origin: "measured" },
    median_ns: { text: "Half of the calls take at most this", unit: "ns", origin: "measured" },
    min_ns: { text: "Shortest call", unit: "ns", origin: "measured" },
    max_ns: { text: "Longest call", unit: "ns", origin: "measured" },
    sd_ns: { text: "Standard deviation of the calls", unit: "ns", origin: "measured" },
    tensor_cores: { text: "True if the kernel uses Tensor Cores", unit: "", origin: "" },
    tensor_cores_by: { text: "The source of that: the kernel's instructions, or its name where they are not known", unit: "", origin: "" },
    blocks_per_sm: { text: "Blocks of a launch by the SMs of the device; mean, weighted by time. Less than 1 leaves SMs idle", unit: "ratio", origin: "recorded" },
    occupancy: { text: "Warps that fit on an SM together, by those it can hold; mean, weighted by time", unit: "share", origin: "estimated" },
    grid: { text: "Blocks of a launch, where launches are told apart by them", unit: "", origin: "" },
    block: { text: "Threads of a block, where launches are told apart by them", unit: "", origin: "" },
  },
  Volume: {
    kind: { text: "copy or set", unit: "", origin: "" },
    direction: { text: "HtoD: from the host to the device; DtoH, DtoD, HtoH, PtoP alike", unit: "", origin: "" },
    count: { text: "How many there were", unit: "count", origin: "measured" },
    bytes: { text: "Bytes of all of them", unit: "bytes", origin: "recorded" },
    busy_ns: { text: "Time in which at least one of them ran", unit: "ns", origin: "measured" },
    bytes_per_second: { text: "Bytes by that time", unit: "bytes/s", origin: "measured" },
    average_bytes: { text: "Mean size", unit: "bytes", origin: "recorded" },
    median_bytes: { text: "Half of them have at most this", unit: "bytes", origin: "recorded" },
    min_bytes: { text: "Smallest", unit: "bytes", origin: "recorded" },
    max_bytes: { text: "Largest", unit: "bytes", origin: "recorded" },
    sd_bytes: { text: "Standard deviation of sizes", unit: "bytes", origin: "recorded" },
  },
  ActivitySummary: {
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    gpu_activities: { text: "Kernels, copies by direction, sets", unit: "", origin: "" },
    api_calls: { text: "Calls of the runtime and the driver API", unit: "", origin: "" },
    ranges: { text: "Ranges that the program announced", unit: "", origin: "" },
    thread_calls: { text: "Calls in which threads wait for each other", unit: "", origin: "" },
    transfers: { text: "Sizes of copies and sets", unit: "", origin: "" },
  },
  TimeSummary: {
    n: { text: "How many values there are", unit: "count", origin: "measured" },
    mean_ns: { text: "Sum of the values by their number", unit: "ns", origin: "measured" },
    sd_ns: { text: "Standard deviation of the sample (divided by n - 1)", unit: "ns", origin: "measured" },
    min_ns: { text: "Smallest value", unit: "ns", origin: "measured" },
    max_ns: { text: "Largest value", unit: "ns", origin: "measured" },
    p25_ns: { text: "A quarter of the values is at most this", unit: "ns", origin: "measured" },
    median_ns: { text: "Half of the values are at most this", unit: "ns", origin: "measured" },
    p75_ns: { text: "Three quarters of the values are at most this", unit: "ns", origin: "measured" },
    median_low_ns: { text: "Lower end of the median's 95 % confidence interval, from order statistics; null below 6 values", unit: "ns", origin: "estimated" },
    median_high_ns: { text: "Upper end of the median's 95 % confidence interval, from order statistics; null below 6 values", unit: "ns", origin: "estimated" },
  },
  Trend: {
    slope: { text: "Median of the changes from one value to the next (Theil and Sen)", unit: "ns", origin: "estimated" },
    low: { text: "Lower end of its 95 % confidence interval", unit: "ns", origin: "estimated" },
    high: { text: "Upper end of its 95 % confidence interval", unit: "ns", origin: "estimated" },
    certain: { text: "Whether the interval leaves out 0: the values do grow or fall", unit: "", origin: "" },
  },
  CategoryCost: {
    mean_ns: { text: "Mean time of a step spent on it; these add up to the mean step", unit: "ns", origin: "measured" },
    median_ns: { text: "Half of the steps spend at most this", unit: "ns", origin: "measured" },
    p25_ns: { text: "A quarter of the steps spends at most this", unit: "ns", origin: "measured" },
    p75_ns: { text: "Three quarters of the steps spend at most this", unit: "ns", origin: "measured" },
    min_ns: { text: "The least that a step spends", unit: "ns", origin: "measured" },
    max_ns: { text: "The most that a step spends", unit: "ns", origin: "measured" },
    sd_ns: { text: "Standard deviation over the steps", unit: "ns", origin: "measured" },
    share: { text: "Mean time by the mean length of a step", unit: "share", origin: "measured" },
  },
  Step: {
    name: { text: "Name of the step", unit: "", origin: "" },
    start_ns: { text: "End of the work of the step before, or where it was announced", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the last work that it launched", unit: "ns", origin: "measured" },
    host_start_ns: { text: "As the host announced it", unit: "ns", origin: "measured" },
    host_end_ns: { text: "As the host announced it", unit: "ns", origin: "measured" },
    device_events: { text: "Kernels, copies and sets that it launched", unit: "count", origin: "measured" },
    costs: { text: "Its time by category, which add up to it; where several go on, the first one in the order of the list has it", unit: "ns", origin: "measured" },
    profiler_overhead_ns: { text: "Time that the profiler itself took, part of the above", unit: "ns", origin: "measured" },
  },
  StepBreakdown: {
    announced: { text: "True if the program announced steps; else the whole trace is one", unit: "", origin: "" },
    step: { text: "Length of a step", unit: "ns", origin: "measured" },
    trend_ns: { text: "Growth of steps, ns from one to the next; negative when they grow shorter", unit: "ns", origin: "estimated" },
    categories: { text: "Categories of time in steps", unit: "", origin: "" },
    steps: { text: "Every step", unit: "", origin: "" },
    notes: { text: "Rows that were left out, and why", unit: "", origin: "" },
  },
  ShareFigure: {
    value: { text: "The figure itself", unit: "share", origin: "" },
    origin: { text: "measured, estimated from how kernels were launched, or by name of kernels", unit: "", origin: "" },
    coverage: { text: "Share of kernel time for which what it needs was recorded", unit: "share", origin: "measured" },
  },
  CounterMean: {
    name: { text: "Name of the counter", unit: "", origin: "" },
    unit: { text: "Its unit", unit: "", origin: "" },
    mean: { text: "Mean over the window, weighted by time, in the counter's unit", unit: "", origin: "measured" },
    min: { text: "Smallest sample, in the counter's unit", unit: "", origin: "measured" },
    max: { text: "Largest sample, in the counter's unit", unit: "", origin: "measured" },
    samples: { text: "How many samples there are", unit: "count", origin: "measured" },
  },
  DeviceUsage: {
    device: { text: "Number of the GPU", unit: "", origin: "" },
    name: { text: "Name of the GPU", unit: "", origin: "" },
    memory_bytes: { text: "Its memory", unit: "bytes", origin: "recorded" },
    compute_capability: { text: "Capabilities of its processors", unit: "", origin: "" },
    multiprocessors: { text: "Its SMs", unit: "count", origin: "recorded" },
    kernels: { text: "Kernels in the window", unit: "count", origin: "measured" },
    kernel_time_ns: { text: "Their times added up", unit: "ns", origin: "measured" },
    busy_ns: { text: "Time in which at least one kernel ran", unit: "ns", origin: "measured" },
    utilization: { text: "Time in which a kernel ran by the window; copies do not count", unit: "", origin: "" },
    sm_efficiency: { text: "Share of the SMs that had a block, over the window: min(blocks by SMs, 1) of the kernels running", unit: "", origin: "" },
    occupancy: { text: "Share of an SM's warps that were in use while kernels ran; idle time is not in it", unit: "", origin: "" },
    tensor_cores: { text: "Time of kernels that use Tensor Cores by the time of all kernels", unit: "", origin: "" },
    measured_gr_active: { text: "Cycles in which the graphics and compute engine worked, by a counter, over the window", unit: "", origin: "" },
    measured_sms_active: { text: "Cycles in which an SM had work, by a counter, over the window", unit: "", origin: "" },
    measured_warps_active: { text: "Warps resident on SMs by those they can hold, by a counter, over the window", unit: "", origin: "" },
    measured_tensor_active: { text: "Cycles in which Tensor Cores worked, by a counter, over the window", unit: "", origin: "" },
    counters: { text: "Every counter that was sampled", unit: "", origin: "" },
  },
  GpuUsage: {
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    devices: { text: "GPUs that are described or did something", unit: "", origin: "" },
  },
  KernelMetricRow: {
    device: { text: "Number of the GPU", unit: "", origin: "" },
    kernel: { text: "Name of the kernel", unit: "", origin: "" },
    metric: { text: "Name of the metric, as it was asked for", unit: "", origin: "" },
    unit: { text: "Its unit; empty for counts and ratios", unit: "", origin: "" },
    invocations: { text: "Launches that have a value", unit: "count", origin: "measured" },
    min: { text: "Smallest value, in the metric's unit", unit: "", origin: "measured" },
    max: { text: "Largest value, in the metric's unit", unit: "", origin: "measured" },
    mean: { text: "Mean of the launches, in the metric's unit", unit: "", origin: "measured" },
  },
  KernelMetricTable: {
    launches: { text: "Launches of kernels that were measured", unit: "count", origin: "measured" },
    rows: { text: "By kernel and metric, in the order in which they first came", unit: "", origin: "" },
  },
  LayerKernel: {
    name: { text: "Name of the kernel", unit: "", origin: "" },
    calls: { text: "Mean number of launches in an iteration", unit: "count", origin: "measured" },
  },
  LayerRival: {
    tactic: { text: "A tactic that the engine looked at for the layer", unit: "", origin: "" },
    layout: { text: "Arrangement of images in which it was tried, where that was recorded", unit: "", origin: "" },
    time_ns: { text: "Its median time inside the whole network when the engine was built. 0 where not known", unit: "ns", origin: "measured" },
    chosen: { text: "Whether the engine runs it", unit: "", origin: "" },
    refusal: { text: "Why it does not run this layer; empty for one that does", unit: "", origin: "" },
  },
  Layer: {
    name: { text: "Name of the layer: a step of an engine, or a node of the model", unit: "", origin: "" },
    kind: { text: "Operator, where it was recorded", unit: "", origin: "" },
    tactic: { text: "How the engine runs it, where it was recorded", unit: "", origin: "" },
    inputs: { text: "Types and shapes of its inputs, as JSON", unit: "", origin: "" },
    outputs: { text: "Types and shapes of its outputs, as JSON", unit: "", origin: "" },
    sources: { text: "Nodes of the model that it computes, as JSON", unit: "", origin: "" },
    time: { text: "Time in one iteration: on a GPU the sum of its kernels, copies and sets, on the CPU its own range", unit: "ns", origin: "measured" },
    kernels: { text: "What it ran on the device", unit: "", origin: "" },
    flops: { text: "Arithmetic work; a multiply-add is two. 0 where it is not known", unit: "flop", origin: "estimated" },
    bytes: { text: "Inputs, weights and outputs, each counted once. 0 where it is not known", unit: "bytes", origin: "estimated" },
    flops_per_second: { text: "Work by the median time", unit: "flop/s", origin: "estimated" },
    bytes_per_second: { text: "Bytes by the median time", unit: "bytes/s", origin: "estimated" },
    floor_ns: { text: "Time that the work needs at the rates the device reaches: the larger of arithmetic and memory. 0 where either is not known", unit: "ns", origin: "estimated" },
    over_floor: { text: "Median time by that floor. 0 where there is none", unit: "ratio", origin: "estimated" },
    predecessors: { text: "Which earlier layers, from 0, make what it reads. Where no layer has any, they are not known", unit: "", origin: "" },
    rivals: { text: "Tactics that the engine looked at for it, the chosen one among them", unit: "", origin: "" },
  },
  LayerThreads: {
    name: { text: "Name of the layer", unit: "", origin: "" },
    calls: { text: "How often it ran", unit: "count", origin: "measured" },
    wall_ns: { text: "Time from its start to its end, added up", unit: "ns", origin: "measured" },
    cpu_ns: { text: "Time of the CPU that all threads used", unit: "ns", origin: "measured" },
    slowest_thread_ns: { text: "Time of the CPU that the busiest thread used", unit: "ns", origin: "measured" },
    imbalance: { text: "Share of the busiest thread's time beyond its fair part: 0 when all worked the same time", unit: "share", origin: "measured" },
    cycles: { text: "Cycles of user code", unit: "count", origin: "measured" },
    instructions: { text: "Instructions of user code", unit: "count", origin: "measured" },
    cache_misses: { text: "Misses of the last cache, by user code", unit: "count", origin: "measured" },
  },
  LayerThreadTable: {
    threads: { text: "Threads that worked in some layer", unit: "count", origin: "measured" },
    layers: { text: "Layers, the longest first", unit: "", origin: "" },
  },
  LayerAnalysis: {
    layers: { text: "Layers in the order in which they run", unit: "", origin: "" },
    layer_sum: { text: "Times of all layers of an iteration, added up", unit: "ns", origin: "measured" },
    other_device: { text: "Time of kernels, copies and sets of an iteration that belong to no layer", unit: "ns", origin: "measured" },
    device_busy: { text: "Time of an iteration in which the device did anything: less than the sums where streams overlap", unit: "ns", origin: "measured" },
    host: { text: "Time of an iteration as the host sees it", unit: "ns", origin: "measured" },
    iteration: { text: "Time of an iteration from the end of the work of the one before to the end of its own", unit: "ns", origin: "measured" },
    iteration_trend_ns: { text: "Growth of iterations, ns from one to the next; negative when they grow shorter", unit: "ns", origin: "estimated" },
    notes: { text: "What these figures leave out", unit: "", origin: "" },
    threads: { text: "What threads of the CPU used in each layer", unit: "", origin: "" },
  },
  FunctionTime: {
    kind: { text: "What the time is", unit: "", origin: "" },
    name: { text: "Name of the call or operation", unit: "", origin: "" },
    calls: { text: "How often it ran", unit: "count", origin: "measured" },
    critical_path_ns: { text: "Its time on the critical path: only this makes the program shorter when it gets faster", unit: "ns", origin: "estimated" },
    share: { text: "That time by the wall time", unit: "share", origin: "estimated" },
    waiting_ns: { text: "Time in which a host thread was blocked in it, waiting for the GPU or another thread", unit: "ns", origin: "estimated" },
    device_waiting_ns: { text: "Time in which operations, though launched, waited for others than the one before in their stream", unit: "ns", origin: "estimated" },
    queue_delay_ns: { text: "The part of it due only to false dependencies: streams that share a hardware queue", unit: "ns", origin: "estimated" },
    blame_ns: { text: "Waiting of others that it is the cause of: of host threads, or idle time of the device", unit: "ns", origin: "estimated" },
  },
  SegmentTable: {
    columns: { text: "What a row holds", unit: "", origin: "" },
    rows: { text: "Segments of the path, the oldest first. function: index into functions; thread, event: indices into the trace, -1 for none", unit: "", origin: "" },
    left_out: { text: "Shorter ones that are not in the list", unit: "count", origin: "measured" },
  },
  DeviceClock: {
    device: { text: "Number of the GPU", unit: "", origin: "" },
    offset_ns: { text: "Added to its times, so that no operation begins before its launch", unit: "ns", origin: "estimated" },
    launches: { text: "Launches that bound it", unit: "count", origin: "measured" },
    waits: { text: "Waits that bound it", unit: "count", origin: "measured" },
    violations_before: { text: "Contradictions before", unit: "count", origin: "measured" },
    violations_left: { text: "Contradictions that remain", unit: "count", origin: "measured" },
    largest_left_ns: { text: "The largest of them", unit: "ns", origin: "measured" },
  },
  CriticalPath: {
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    wall_ns: { text: "Length of the window, and of the path", unit: "ns", origin: "measured" },
    waiting_ns: { text: "Waiting time of all host threads", unit: "ns", origin: "estimated" },
    profiler_overhead_ns: { text: "The profiler's own work on the path", unit: "ns", origin: "measured" },
    functions: { text: "By their time on the path, the longest first", unit: "", origin: "" },
    segments: { text: "The path itself", unit: "", origin: "" },
    clock: { text: "How the device's clock was moved against the host's", unit: "", origin: "" },
    doubts: { text: "Gaps in the trace", unit: "", origin: "" },
  },
  WhatIf: {
    change: { text: "faster, overlap_copies or no_wait", unit: "", origin: "" },
    name: { text: "Operations or calls that it changes", unit: "", origin: "" },
    factor: { text: "How many times faster; 0: takes no time", unit: "ratio", origin: "" },
    wall_ns: { text: "Wall time that the program would take", unit: "ns", origin: "estimated" },
    gain_ns: { text: "Wall time that it would save", unit: "ns", origin: "estimated" },
    share: { text: "That by the measured wall time", unit: "share", origin: "estimated" },
    at_most: { text: "The operation may need data in ways that the trace does not show: the gain is at most this", unit: "", origin: "" },
  },
  WhatIfs: {
    wall_ns: { text: "Wall time as measured", unit: "ns", origin: "measured" },
    changes: { text: "The largest gain first", unit: "", origin: "" },
  },
  Dependencies: {
    critical_path: { text: "The chain of activities that the program's time consists of", unit: "", origin: "" },
    what_if: { text: "What the program would take if something changed", unit: "", origin: "" },
  },
  IdleRow: {
    cause: { text: "The cause of the device's wait", unit: "", origin: "" },
    name: { text: "Name of the call, range, function or operation", unit: "", origin: "" },
    time_ns: { text: "Idle time that it explains", unit: "ns", origin: "estimated" },
    share: { text: "By the time from the first to the last work", unit: "share", origin: "estimated" },
    gaps: { text: "Idle intervals that it has a part in", unit: "count", origin: "estimated" },
  },
  DeviceIdle: {
    device: { text: "Number of the GPU", unit: "", origin: "" },
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    busy_ns: { text: "Time in which at least one operation ran", unit: "ns", origin: "measured" },
    idle_ns: { text: "Time in which none ran", unit: "ns", origin: "measured" },
    gaps: { text: "Idle intervals", unit: "count", origin: "measured" },
    longest_gap_ns: { text: "The longest of them", unit: "ns", origin: "measured" },
    causes: { text: "What it waited for, the longest first", unit: "", origin: "" },
  },
  IdleTime: {
    devices: { text: "Every GPU", unit: "", origin: "" },
  },
  OperatorRow: {
    name: { text: "Name of the operator", unit: "", origin: "" },
    input_shapes: { text: "Shapes of its inputs, where rows differ in them", unit: "", origin: "" },
    calls: { text: "How often it ran", unit: "count", origin: "measured" },
    host_self_ns: { text: "Host time without the operators and API calls inside", unit: "ns", origin: "measured" },
    host_total_ns: { text: "Host time from begin to end; a call inside another one of the same row counts once", unit: "ns", origin: "measured" },
    device_self_ns: { text: "Time of kernels, copies and sets it launched itself", unit: "ns", origin: "measured" },
    device_total_ns: { text: "Device time with the operators inside", unit: "ns", origin: "measured" },
    device_tensor_core_ns: { text: "The part of its own device time in kernels that use Tensor Cores, by their instructions or, where these are not known, by their names", unit: "ns", origin: "by name" },
    tensor_core_eligible_by_name: { text: "True if Tensor Cores can run such an operator", unit: "count", origin: "by name" },
  },
  OperatorTable: {
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    operators: { text: "By their own device time, then host time, the largest first", unit: "", origin: "" },
    unjoined_device_events: { text: "Kernels, copies and sets that no operator launched", unit: "count", origin: "measured" },
    unjoined_device_ns: { text: "Their time", unit: "ns", origin: "measured" },
  },
  Traffic: {
    copies: { text: "Copies, each counted in the first step that it touches", unit: "count", origin: "measured" },
    bytes: { text: "Bytes; of a copy that lies in several steps each has its part", unit: "bytes", origin: "recorded" },
    busy_ns: { text: "Time in which at least one of them ran", unit: "ns", origin: "measured" },
    bytes_per_second: { text: "Bytes by that time", unit: "bytes/s", origin: "measured" },
  },
  Overlap: {
    step: { text: "Name of the step", unit: "", origin: "" },
    length_ns: { text: "Length of the step", unit: "ns", origin: "measured" },
    directions: { text: "Copies by direction", unit: "", origin: "" },
    link_ns: { text: "Time in which copies between host and device ran", unit: "ns", origin: "measured" },
    compute_ns: { text: "Time in which kernels ran", unit: "ns", origin: "measured" },
    both_ns: { text: "Time in which both ran", unit: "ns", origin: "measured" },
    link_only_ns: { text: "Copies ran and no kernel", unit: "ns", origin: "measured" },
    compute_only_ns: { text: "Kernels ran and no copy", unit: "ns", origin: "measured" },
    other_ns: { text: "Only copies within the device and sets ran", unit: "ns", origin: "measured" },
    idle_ns: { text: "The device did nothing that was recorded", unit: "ns", origin: "measured" },
  },
  DeviceTransfers: {
    device: { text: "Number of the GPU", unit: "", origin: "" },
    total: { text: "All steps added up", unit: "", origin: "" },
    hideable_ns: { text: "Most time that a perfect overlap of copies and kernels could save, within each step", unit: "ns", origin: "estimated" },
    steps: { text: "Every step", unit: "", origin: "" },
  },
  TransferAnalysis: {
    devices: { text: "GPUs that did something", unit: "", origin: "" },
  },
  MemoryOwner: {
    name: { text: "Operator around the allocation, else the API or the allocator", unit: "", origin: "" },
    bytes: { text: "Bytes it held", unit: "bytes", origin: "recorded" },
    allocations: { text: "Allocations it held", unit: "count", origin: "recorded" },
  },
  MemoryPoint: {
    time_ns: { text: "When", unit: "ns", origin: "measured" },
    allocated_bytes: { text: "Bytes in use", unit: "bytes", origin: "recorded" },
    reserved_bytes: { text: "Bytes that the allocator held, in use or not", unit: "bytes", origin: "recorded" },
  },
  DeviceMemory: {
    device: { text: "Number of the GPU; -1 is the host", unit: "", origin: "" },
    allocations: { text: "Allocations in the window", unit: "count", origin: "recorded" },
    frees: { text: "Frees in the window", unit: "count", origin: "recorded" },
    totals_by_allocator: { text: "Totals are those the allocator reported; else sums of the events seen", unit: "", origin: "" },
    addressed: { text: "Allocations and frees can be joined", unit: "", origin: "" },
    peak_time_ns: { text: "When most was in use", unit: "ns", origin: "measured" },
    peak_bytes: { text: "The most that was in use", unit: "bytes", origin: "recorded" },
    reserved_peak_bytes: { text: "The most that the allocator held", unit: "bytes", origin: "recorded" },
    live_at_end_bytes: { text: "Allocated in the window and not freed in it", unit: "bytes", origin: "recorded" },
    unknown_frees: { text: "Frees of memory that was allocated before the window", unit: "count", origin: "recorded" },
    older_at_peak_bytes: { text: "At the peak: in use by the allocator's count beyond the allocations seen", unit: "bytes", origin: "recorded" },
    at_peak: { text: "Who held memory at the peak, the largest first", unit: "", origin: "" },
    curve: { text: "Highest point of each of up to 512 equal parts of the window", unit: "", origin: "" },
  },
  MemoryTimeline: {
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    devices: { text: "The host and each GPU", unit: "", origin: "" },
  },
  Evidence: {
    text: { text: "A fact with its numbers", unit: "", origin: "" },
    start_ns: { text: "Where that shows in the trace, if in one place", unit: "ns", origin: "measured" },
    end_ns: { text: "Where that shows in the trace, if in one place", unit: "ns", origin: "measured" },
  },
  Advice: {
    rule: { text: "Name of the rule that found it", unit: "", origin: "" },
    problem: { text: "What costs time", unit: "", origin: "" },
    evidence: { text: "Why that is so", unit: "", origin: "" },
    action: { text: "What to do about it", unit: "", origin: "" },
    gain_at_best_ns: { text: "Time of the window that could be saved at best", unit: "ns", origin: "estimated" },
    gain_basis: { text: "The basis of the gain", unit: "", origin: "" },
  },
  Unjudged: {
    rule: { text: "Name of the rule", unit: "", origin: "" },
    reason: { text: "What the trace lacks to decide it", unit: "", origin: "" },
  },
  AdviceList: {
    start_ns: { text: "Begin of the window", unit: "ns", origin: "measured" },
    end_ns: { text: "End of the window", unit: "ns", origin: "measured" },
    rules: { text: "Rules that were asked", unit: "count", origin: "measured" },
    advice: { text: "The largest gain first", unit: "", origin: "" },
    unjudged: { text: "Rules that found too little in the trace to decide", unit: "", origin: "" },
  },
  Analysis: {
    schema: { text: "hone.analysis", unit: "", origin: "" },
    version: { text: "Of the schema", unit: "", origin: "" },
    trace: { text: "File of the trace", unit: "", origin: "" },
    doubts: { text: "Losses of the trace, and doubts about it", unit: "", origin: "" },
    summary: { text: "Kernels, copies and other work", unit: "", origin: "" },
    steps: { text: "Categories of the time of steps", unit: "", origin: "" },
    gpu: { text: "How busy GPUs were", unit: "", origin: "" },
    metrics: { text: "What was measured of each kernel", unit: "", origin: "" },
    layers: { text: "What each layer of the model costs", unit: "", origin: "" },
    dependencies: { text: "Dependencies between operations", unit: "", origin: "" },
    idle: { text: "What GPUs waited for", unit: "", origin: "" },
    operators: { text: "Time of a framework's operators", unit: "", origin: "" },
    transfers: { text: "Copies, and what they overlap with", unit: "", origin: "" },
    memory: { text: "Memory over time", unit: "", origin: "" },
    advice: { text: "Suggestions to make it faster", unit: "", origin: "" },
  },
  TimelineTrack: {
    id: { text: "Number of the track", unit: "", origin: "" },
    group: { text: "GPU or process", unit: "", origin: "" },
    name: { text: "Stream, thread or counter", unit: "", origin: "" },
    kind: { text: "stream, ranges, api, sync, overhead or counter", unit: "", origin: "" },
    first: { text: "Its first event, or sample of a counter", unit: "", origin: "" },
    count: { text: "Events or samples", unit: "count", origin: "measured" },
    depth: { text: "Rows that nested or overlapping events need", unit: "count", origin: "" },
    unit: { text: "Unit of a counter", unit: "", origin: "" },
  },
  TimelineSegment: {
    track: { text: "Number of the track", unit: "", origin: "" },
    start_ns: { text: "From the origin", unit: "ns", origin: "estimated" },
    end_ns: { text: "From the origin", unit: "ns", origin: "estimated" },
    name: { text: "Call or operation: an index into strings", unit: "", origin: "" },
  },
  TimelineColumn: {
    name: { text: "Name of the column", unit: "", origin: "" },
    type: { text: "u8, u16, u32, i32 or f64, little-endian", unit: "", origin: "" },
    offset: { text: "Where it begins", unit: "bytes", origin: "" },
    count: { text: "Numbers in it", unit: "count", origin: "" },
  },
  TimelineHeader: {
    origin_ns: { text: "Time of the trace that is 0 here", unit: "ns", origin: "measured" },
    duration_ns: { text: "From the first to the last event", unit: "ns", origin: "measured" },
    from_ns: { text: "Begin of the window that events are from", unit: "ns", origin: "" },
    to_ns: { text: "End of the window", unit: "ns", origin: "" },
    complete: { text: "True if no events are merged", unit: "", origin: "" },
    resolution_ns: { text: "Events shorter than this are merged with neighbours", unit: "ns", origin: "" },
    strings: { text: "Names of events", unit: "", origin: "" },
    details: { text: "Of launches, copies and operators", unit: "", origin: "" },
    tracks: { text: "Streams, threads and counters", unit: "", origin: "" },
    path: { text: "The critical path: its longest segments", unit: "", origin: "" },
    columns: { text: "Where the numbers of events lie", unit: "", origin: "" },
  },
  Profile: {
    id: { text: "Name for links", unit: "", origin: "" },
    name: { text: "Name for people", unit: "", origin: "" },
    path: { text: "File", unit: "", origin: "" },
    metadata: { text: "Subject and settings of the recording", unit: "", origin: "" },
    analysis: { text: "Answers of hone analyze", unit: "", origin: "" },
    timeline: { text: "Events over time; their numbers lie next to the document", unit: "", origin: "" },
    ready: { text: "False while hone view has yet to read the trace", unit: "", origin: "" },
  },
  Estimate: {
    mean_ns: { text: "Mean over iterations", unit: "ns", origin: "measured" },
    half_width_ns: { text: "Half the width of its 95 % confidence interval (Student's t); none from one iteration", unit: "ns", origin: "estimated" },
  },
  WaterfallBar: {
    name: { text: "What the time was spent on", unit: "", origin: "" },
    change_ns: { text: "B minus A", unit: "ns", origin: "measured" },
  },
  MatchedLayers: {
    a: { text: "Layers of A", unit: "", origin: "" },
    b: { text: "Layers of B that compute the same nodes of the model", unit: "", origin: "" },
    kernels_a: { text: "Kernels of A's layers", unit: "", origin: "" },
    kernels_b: { text: "Kernels of B's layers", unit: "", origin: "" },
    time_a: { text: "Their time in one iteration of A", unit: "ns", origin: "measured" },
    time_b: { text: "Their time in one iteration of B", unit: "ns", origin: "measured" },
    change_ns: { text: "B minus A", unit: "ns", origin: "measured" },
    reasons: { text: "What the two do otherwise", unit: "", origin: "" },
    certain: { text: "True if that is more than noise: the confidence intervals lie apart", unit: "", origin: "" },
  },
  KernelExchange: {
    a: { text: "Kernels of A, by the functions' own names", unit: "", origin: "" },
    b: { text: "Kernels of B that ran in place of them", unit: "", origin: "" },
    layers: { text: "Groups of matched layers in which they did", unit: "count", origin: "measured" },
    time_a_ns: { text: "Time of these layers in one iteration of A", unit: "ns", origin: "measured" },
    time_b_ns: { text: "Time of these layers in one iteration of B", unit: "ns", origin: "measured" },
    change_ns: { text: "B minus A", unit: "ns", origin: "measured" },
  },
  TraceDiff: {
    iteration_a: { text: "An iteration of A", unit: "", origin: "" },
    iteration_b: { text: "An iteration of B", unit: "", origin: "" },
    trend_a_ns: { text: "Growth of A's iterations from one to the next", unit: "ns", origin: "estimated" },
    trend_b_ns: { text: "Growth of B's iterations from one to the next", unit: "ns", origin: "estimated" },
    speedup: { text: "A's time by B's: above 1, B is faster; none where one has no time", unit: "ratio", origin: "measured" },
    speedup_interval: { text: "Interval of the speedup, 95 % at least; none of too few runs", unit: "ratio", origin: "estimated" },
    speedup_undisturbed: { text: "True if the speedup is of runs that nothing recorded, else of the recorded iterations", unit: "", origin: "" },
    waterfall: { text: "From A to B: changes that add up to the difference exactly", unit: "", origin: "" },
    layers: { text: "The largest change first", unit: "", origin: "" },
    kernels: { text: "Kernels that took the place of others, the largest change first", unit: "", origin: "" },
    notes: { text: "What the comparison leaves out", unit: "", origin: "" },
  },
  ReportDiff: {
    a: { text: "A: the slower profile", unit: "", origin: "" },
    b: { text: "B: the faster one", unit: "", origin: "" },
    diff: { text: "What hone diff A B says", unit: "", origin: "" },
  },
  PartitionBackend: {
    name: { text: "Name of the backend", unit: "", origin: "" },
    version: { text: "Version of the system behind it", unit: "", origin: "" },
    taken: { text: "Nodes that it takes", unit: "count", origin: "" },
    measured: { text: "True if times were measured on it", unit: "", origin: "" },
    launch_us: { text: "Time of a block beyond its nodes and borders, in us", unit: "", origin: "" },
    input_us_per_mb: { text: "Time to take in 1e6 bytes, in us", unit: "", origin: "" },
    output_us_per_mb: { text: "Time to hand out 1e6 bytes, in us", unit: "", origin: "" },
    input_copies: { text: "Copies of each input", unit: "count", origin: "" },
    output_copies: { text: "Copies of each output", unit: "count", origin: "" },
    synchronisations: { text: "Waits of the host at the end of a block", unit: "count", origin: "" },
  },
  PartitionPlan: {
    name: { text: "best, greedy, or a backend alone", unit: "", origin: "" },
    refusal: { text: "Why it cannot be run, or is not to be chosen; empty: it can", unit: "", origin: "" },
    blocks: { text: "Blocks", unit: "count", origin: "" },
    borders: { text: "Values that cross from block to block", unit: "count", origin: "" },
    border_mb: { text: "Their size", unit: "MB", origin: "" },
    nodes_ms: { text: "Time of the nodes", unit: "ms", origin: "estimated" },
    borders_ms: { text: "Time of the borders", unit: "ms", origin: "estimated" },
    launches_ms: { text: "Time to begin and end blocks", unit: "ms", origin: "estimated" },
    predicted_ms: { text: "All of these", unit: "ms", origin: "estimated" },
    measured_ms: { text: "Median latency, plans taking turns", unit: "ms", origin: "measured" },
    samples: { text: "Runs that were measured", unit: "count", origin: "" },
    chosen: { text: "Whether the blocks are those of this plan", unit: "", origin: "" },
  },
  PartitionValue: {
    name: { text: "Name in the model", unit: "", origin: "" },
    type: { text: "Element type and shape", unit: "", origin: "" },
    bytes: { text: "Size", unit: "bytes", origin: "" },
  },
  PartitionBlock: {
    backend: { text: "What runs it", unit: "", origin: "" },
    nodes: { text: "Its nodes, ascending", unit: "", origin: "" },
    counted: { text: "Nodes that min_block_size counts", unit: "count", origin: "" },
    inputs: { text: "Values that it takes in", unit: "", origin: "" },
    outputs: { text: "Values that it hands out", unit: "", origin: "" },
    nodes_ms: { text: "Time of its nodes", unit: "ms", origin: "estimated" },
    launch_ms: { text: "Time beyond them", unit: "ms", origin: "estimated" },
    measured_ms: { text: "Median time of the block with its borders", unit: "ms", origin: "measured" },
    note: { text: "What is to be known of it", unit: "", origin: "" },
  },
  PartitionBorder: {
    value: { text: "What crosses", unit: "", origin: "" },
    from: { text: "Block that makes it; -1: the caller", unit: "", origin: "" },
    to: { text: "Block that reads it; -1: the caller", unit: "", origin: "" },
    copies: { text: "Copies of it", unit: "count", origin: "" },
    synchronisations: { text: "Waits of the host", unit: "count", origin: "" },
    time_ms: { text: "What crossing costs", unit: "ms", origin: "estimated" },
  },
  PartitionStatistics: {
    nodes: { text: "Nodes of the model", unit: "count", origin: "" },
    supported: { text: "Nodes that the first backend takes", unit: "count", origin: "" },
    coverage: { text: "Share of nodes that a backend takes", unit: "share", origin: "" },
    first_blocks: { text: "Blocks of the first backend", unit: "count", origin: "" },
    average_nodes: { text: "Nodes of such a block on average", unit: "count", origin: "" },
    most_nodes: { text: "Nodes of the largest of them", unit: "count", origin: "" },
    unsupported: { text: "Operators that the first backend does not take, and how many nodes have them", unit: "", origin: "" },
  },
  PartitionWhatIf: {
    min_block_size: { text: "Least number of nodes of a block", unit: "count", origin: "" },
    blocks: { text: "Blocks of the greedy partition", unit: "count", origin: "" },
    first_blocks: { text: "Blocks of the first backend", unit: "count", origin: "" },
    predicted_ms: { text: "Predicted time", unit: "ms", origin: "estimated" },
  },
  PartitionNode: {
    name: { text: "Name in the model", unit: "", origin: "" },
    op: { text: "Operator", unit: "", origin: "" },
    counted: { text: "Whether min_block_size counts it: it computes or moves elements", unit: "", origin: "" },
    block: { text: "Block that it is in", unit: "", origin: "" },
    predecessors: { text: "Nodes whose outputs it reads", unit: "", origin: "" },
    refusals: { text: "Why a backend does not take it, one text a backend; empty: it does", unit: "", origin: "" },
    times_us: { text: "Time on each backend, in us; null where it is refused", unit: "", origin: "" },
  },
  Partition: {
    schema: { text: "hone.partition", unit: "", origin: "" },
    version: { text: "Of the schema", unit: "", origin: "" },
    model: { text: "Model as it was named", unit: "", origin: "" },
    fingerprint: { text: "Hash of the model's structure, weights left out", unit: "", origin: "" },
    device: { text: "Where it runs", unit: "", origin: "" },
    precision: { text: "Precision of every backend", unit: "", origin: "" },
    threads: { text: "Threads of every backend", unit: "count", origin: "" },
    input_shapes: { text: "Shapes that times are for", unit: "", origin: "" },
    min_block_size: { text: "Least number of nodes of a block of a backend before the last", unit: "count", origin: "" },
    excluded: { text: "Operators that only the last backend may run", unit: "", origin: "" },
    measured: { text: "True if all times of nodes were measured", unit: "", origin: "" },
    times: { text: "Where times come from", unit: "", origin: "" },
    algorithm: { text: "How the best partition was found, and what is known of it", unit: "", origin: "" },
    bound_ms: { text: "No partition has a lower predicted time", unit: "ms", origin: "estimated" },
    predicted_ms: { text: "Predicted time of the chosen partition", unit: "ms", origin: "estimated" },
    measured_ms: { text: "Its median latency", unit: "ms", origin: "measured" },
    backends: { text: "Backends in the order of preference; the last takes what is left", unit: "", origin: "" },
    plans: { text: "Ways to run the model", unit: "", origin: "" },
    blocks: { text: "Blocks of the chosen one, in the order in which they run", unit: "", origin: "" },
    borders: { text: "What crosses between them", unit: "", origin: "" },
    statistics: { text: "Counts", unit: "", origin: "" },
    what_if: { text: "Greedy partitions by the least size of a block", unit: "", origin: "" },
    recommendations: { text: "Suggestions, with numbers", unit: "", origin: "" },
    notes: { text: "What is to be known of all this", unit: "", origin: "" },
    nodes: { text: "Nodes of the model, constants folded and dead ones left out", unit: "", origin: "" },
  },
  ReportPartition: {
    id: { text: "Name for links", unit: "", origin: "" },
    path: { text: "File", unit: "", origin: "" },
    partition: { text: "Result of hone partition", unit: "", origin: "" },
  },
  PipelineStage: {
    name: { text: "Stage of the pipeline", unit: "", origin: "" },
    p50_ms: { text: "Median time of a frame", unit: "ms", origin: "measured" },
    p95_ms: { text: "Time that 95 % of frames do not exceed", unit: "ms", origin: "measured" },
    rate: { text: "Frames a second if it had never waited", unit: "1/s", origin: "estimated" },
    utilisation: { text: "Share of the time in which it worked", unit: "share", origin: "measured" },
    waits_input: { text: "Share of the time in which it waited for the stage before", unit: "share", origin: "measured" },
    waits_output: { text: "Share of the time in which it waited for the stage after", unit: "share", origin: "measured" },
  },
  PipelineTransfer: {
    what: { text: "What was copied", unit: "", origin: "" },
    direction: { text: "to_device, on_device or to_host", unit: "", origin: "" },
    copies: { text: "Copies of all frames; 0 where these bytes went with others", unit: "count", origin: "" },
    bytes: { text: "Bytes of all frames", unit: "bytes", origin: "" },
    copies_a_frame: { text: "copies / frames", unit: "count", origin: "" },
    bytes_a_frame: { text: "bytes / frames", unit: "bytes", origin: "" },
  },
  Pipeline: {
    schema: { text: "hone.pipeline", unit: "", origin: "" },
    version: { text: "Of the schema", unit: "", origin: "" },
    model: { text: "What was run", unit: "", origin: "" },
    backend: { text: "The system that ran it", unit: "", origin: "" },
    device: { text: "Where; empty: where the engine was built for", unit: "", origin: "" },
    precision: { text: "Precision of the run", unit: "", origin: "" },
    input: { text: "What was read", unit: "", origin: "" },
    input_width: { text: "Width of the network's input", unit: "count", origin: "" },
    input_height: { text: "Height of the network's input", unit: "count", origin: "" },
    batch: { text: "Frames that go through the network together", unit: "count", origin: "" },
    streams: { text: "Contexts of the network that run side by side", unit: "count", origin: "" },
    frames: { text: "Frames that came out", unit: "count", origin: "" },
    dropped: { text: "Frames dropped because the pipeline was behind", unit: "count", origin: "" },
    damaged: { text: "Packets or images that could not be decoded", unit: "count", origin: "" },
    corrupt: { text: "Frames delivered with parts missing", unit: "count", origin: "" },
    skipped: { text: "Packets that gave no frame", unit: "count", origin: "" },
    missing: { text: "Frames missing by the times of others, where something is damaged", unit: "count", origin: "" },
    detections: { text: "Detections in all frames", unit: "count", origin: "" },
    startup_seconds: { text: "Loading, building and the network's first run", unit: "s", origin: "measured" },
    wall_seconds: { text: "From the first read to the last write", unit: "s", origin: "measured" },
    end_to_end_fps: { text: "frames / wall_seconds", unit: "1/s", origin: "measured" },
    inference_fps: { text: "streams / mean time of a frame in the network", unit: "1/s", origin: "measured" },
    cpu_seconds_a_frame: { text: "Processor time of a frame, all threads", unit: "s", origin: "measured" },
    processor_rate: { text: "Frames a second if no core ever idled", unit: "1/s", origin: "estimated" },
    bound: { text: "The smaller of processor_rate and the slowest stage's rate", unit: "1/s", origin: "estimated" },
    bounded_by: { text: "The bound of the pipeline", unit: "", origin: "" },
    advice: { text: "What would lift the bound", unit: "", origin: "" },
    stages: { text: "The stages in their order", unit: "", origin: "" },
    transfers: { text: "Copies between the host and the network's device", unit: "", origin: "" },
  },
  ReportPipeline: {
    id: { text: "Name for links", unit: "", origin: "" },
    path: { text: "File", unit: "", origin: "" },
    pipeline: { text: "Result of hone detect", unit: "", origin: "" },
  },
  ReportProblem: {
    path: { text: "File", unit: "", origin: "" },
    text: { text: "What is wrong with it", unit: "", origin: "" },
  },
  Report: {
    schema: { text: "hone.report", unit: "", origin: "" },
    version: { text: "Of the schema", unit: "", origin: "" },
    generated: { text: "When the report was made, UTC", unit: "", origin: "" },
    hone: { text: "Version and commit of the program that made it", unit: "", origin: "" },
    live: { text: "Whether files may come and go, as with hone view", unit: "", origin: "" },
    sweeps: { text: "Results of benchmarks", unit: "", origin: "" },
    profiles: { text: "Profiles of traces", unit: "", origin: "" },
    diffs: { text: "Comparisons of profiles", unit: "", origin: "" },
    diffs_left_out: { text: "Pairs of profiles of one model and batch beyond the number that a page compares", unit: "count", origin: "measured" },
    partitions: { text: "Models split between backends", unit: "", origin: "" },
    pipelines: { text: "Runs of hone detect, stage by stage", unit: "", origin: "" },
    problems: { text: "Files that could not be read", unit: "", origin: "" },
  },
} as const satisfies Record<string, Record<string, FieldMeaning>>;
