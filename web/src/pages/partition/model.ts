// A partition from a file that may be partial or broken: what the page draws of it has the types it expects.
import { finite } from '../../format';
import { listOf, partOf, textsOf } from '../../data/lists';
import type { Partition, PartitionBackend, PartitionBlock, PartitionBorder, PartitionNode, PartitionPlan, PartitionStatistics, PartitionValue, PartitionWhatIf } from '../../schema';
import { clean } from '../../text';

export interface Border {
  key: string;
  name: string;
  type: string;
  bytes: number | null;
  from: number;
  to: number;
  copies: number | null;
  synchronisations: number | null;
  time_ms: number | null;
}

export interface Block {
  index: number;
  backend: string;
  nodes: number[];
  counted: number | null;
  nodes_ms: number | null;
  launch_ms: number | null;
  measured_ms: number | null;
  note: string;
  /// Blocks whose values it takes in.
  reads: number[];
}

export interface Node {
  index: number;
  name: string;
  op: string;
  block: number;
  reads: number[];
  refusals: string[];
  times_us: (number | null)[];
}

export interface Model {
  model: string;
  backends: string[];
  blocks: Block[];
  nodes: Node[];
  borders: Border[];
  plans: Partial<PartitionPlan>[];
  whatIf: Partial<PartitionWhatIf>[];
  statistics: Partial<PartitionStatistics>;
  recommendations: string[];
  notes: string[];
  whole: Partial<Partition>;
}

const whole = (value: unknown, least: number, end: number): number | null => {
  const number = finite(value);
  return number !== null && Number.isInteger(number) && number >= least && number < end ? number : null;
};
const wholes = (value: unknown, end: number): number[] =>
  (Array.isArray(value) ? value : []).map((one) => whole(one, 0, end)).filter((one): one is number => one !== null);

function bordersOf(value: unknown, blocks: number): Border[] {
  return listOf<PartitionBorder>(value).map((border, i) => {
    const what = partOf<PartitionValue>(border.value);
    return {
      key: String(i),
      name: clean(what.name),
      type: clean(what.type),
      bytes: finite(what.bytes),
      from: whole(border.from, -1, blocks) ?? -1,
      to: whole(border.to, -1, blocks) ?? -1,
      copies: finite(border.copies),
      synchronisations: finite(border.synchronisations),
      time_ms: finite(border.time_ms),
    };
  });
}

export function modelOf(value: unknown): Model {
  const record = partOf<Partition>(value);
  const raw = listOf<PartitionBlock>(record.blocks);
  const rawNodes = listOf<PartitionNode>(record.nodes);
  const borders = bordersOf(record.borders, raw.length);
  // A block reads only earlier ones; a file that says otherwise is not followed into a circle.
  const readsOf = (to: number) => [...new Set(borders.filter((border) => border.to === to && border.from >= 0 && border.from < to).map((border) => border.from))];
  return {
    model: clean(record.model),
    backends: listOf<PartitionBackend>(record.backends).map((backend) => clean(backend.name)),
    blocks: raw.map((block, index) => ({
      index,
      backend: clean(block.backend),
      nodes: wholes(block.nodes, rawNodes.length),
      counted: finite(block.counted),
      nodes_ms: finite(block.nodes_ms),
      launch_ms: finite(block.launch_ms),
      measured_ms: finite(block.measured_ms),
      note: clean(block.note),
      reads: readsOf(index),
    })),
    nodes: rawNodes.map((node, index) => ({
      index,
      name: clean(node.name),
      op: clean(node.op),
      block: whole(node.block, 0, raw.length) ?? -1,
      reads: [...new Set(wholes(node.predecessors, index))],
      refusals: (Array.isArray(node.refusals) ? node.refusals : []).map((one) => (typeof one === 'string' ? one : '')),
      times_us: (Array.isArray(node.times_us) ? node.times_us : []).map(finite),
    })),
    borders,
    plans: listOf<PartitionPlan>(record.plans),
    whatIf: listOf<PartitionWhatIf>(record.what_if),
    statistics: partOf<PartitionStatistics>(record.statistics),
    recommendations: textsOf(record.recommendations),
    notes: textsOf(record.notes),
    whole: record,
  };
}

/// Borders between two blocks, as one: what crosses there altogether.
export interface Crossing {
  from: number;
  to: number;
  values: number;
  bytes: number;
  time_ms: number;
}

export function crossingsOf(borders: Border[]): Crossing[] {
  const crossings = new Map<string, Crossing>();
  for (const { from, to, bytes, time_ms } of borders) {
    if (from < 0 || to < 0 || from === to) continue;
    const key = `${from} ${to}`;
    const crossing = crossings.get(key) ?? { from, to, values: 0, bytes: 0, time_ms: 0 };
    crossing.values += 1;
    crossing.bytes += bytes ?? 0;
    crossing.time_ms += time_ms ?? 0;
    crossings.set(key, crossing);
  }
  return [...crossings.values()];
}

export const endOf = (block: number): string => (block < 0 ? 'caller' : `block ${block}`);
