// A pipeline as the page shows it: whatever a file holds, with every number checked.
import { dicts } from '../../data/safe';
import { finite } from '../../format';
import type { Pipeline, PipelineStage, PipelineTransfer } from '../../schema';
import { clean } from '../../text';

export interface Stage {
  key: string;
  name: string;
  bounds: boolean;
  p50_ms: number | null;
  p95_ms: number | null;
  rate: number | null;
  utilisation: number | null;
  waits_input: number | null;
  waits_output: number | null;
}

export interface Transfer {
  key: string;
  what: string;
  direction: string;
  copies_a_frame: number | null;
  bytes_a_frame: number | null;
  bytes: number | null;
}

export interface Model {
  model: string;
  backend: string;
  device: string;
  precision: string;
  size: string;
  frames: number | null;
  end_to_end_fps: number | null;
  inference_fps: number | null;
  bound: number | null;
  startup_seconds: number | null;
  cpu_seconds_a_frame: number | null;
  bounded_by: string;
  advice: string;
  stages: Stage[];
  transfers: Transfer[];
  losses: { text: string; count: number }[];
}

const LOSSES = [
  ['dropped', 'dropped because the pipeline was behind'],
  ['damaged', 'could not be decoded'],
  ['corrupt', 'delivered with parts missing'],
  ['skipped', 'gave no frame'],
  ['missing', 'missing by the times of the others'],
] as const;

const DIRECTIONS: Record<string, string> = { to_device: 'to the device', on_device: 'on the device', to_host: 'to the host' };

/// "960 × 540, batch 1, 2 streams"
function sizeOf(pipeline: Partial<Pipeline>): string {
  const streams = finite(pipeline.streams) ?? 1;
  const size = `${finite(pipeline.input_width) ?? '?'} × ${finite(pipeline.input_height) ?? '?'}, batch ${finite(pipeline.batch) ?? '?'}`;
  return streams > 1 ? `${size}, ${streams} streams` : size;
}

export function modelOf(pipeline: Partial<Pipeline>): Model {
  const bounded_by = clean(pipeline.bounded_by);
  const stages = dicts<PipelineStage>(pipeline.stages);
  return {
    model: clean(pipeline.model),
    backend: clean(pipeline.backend),
    device: clean(pipeline.device),
    precision: clean(pipeline.precision),
    size: sizeOf(pipeline),
    frames: finite(pipeline.frames),
    end_to_end_fps: finite(pipeline.end_to_end_fps),
    inference_fps: finite(pipeline.inference_fps),
    bound: finite(pipeline.bound),
    startup_seconds: finite(pipeline.startup_seconds),
    cpu_seconds_a_frame: finite(pipeline.cpu_seconds_a_frame),
    bounded_by,
    advice: clean(pipeline.advice),
    stages: stages.map((stage, i) => ({
      key: String(i),
      name: clean(stage.name),
      bounds: bounded_by !== '' && clean(stage.name) === bounded_by,
      p50_ms: finite(stage.p50_ms),
      p95_ms: finite(stage.p95_ms),
      rate: finite(stage.rate),
      utilisation: finite(stage.utilisation),
      waits_input: finite(stage.waits_input),
      waits_output: finite(stage.waits_output),
    })),
    transfers: dicts<PipelineTransfer>(pipeline.transfers).map((transfer, i) => ({
      key: String(i),
      what: clean(transfer.what),
      direction: DIRECTIONS[clean(transfer.direction)] ?? clean(transfer.direction),
      copies_a_frame: finite(transfer.copies_a_frame),
      bytes_a_frame: finite(transfer.bytes_a_frame),
      bytes: finite(transfer.bytes),
    })),
    losses: LOSSES.flatMap(([field, text]) => {
      const count = finite(pipeline[field]) ?? 0;
      return count > 0 ? [{ text, count }] : [];
    }),
  };
}

