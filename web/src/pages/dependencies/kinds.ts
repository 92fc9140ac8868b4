// The kinds of time on a critical path and the causes of idle time: their names, and one colour for each.
import type { Look } from '../../components/chart_look';

const NAMES: Record<string, string> = {
  kernel: 'Kernels', copy: 'Copies', set: 'Sets', call: 'API calls', other: 'Host code', host_function: 'Host functions',
  launch_latency: 'Launch latency', queue_gap: 'Queue gaps', profiler: 'Profiler', unknown: 'Unknown',
};
const ORDER = Object.keys(NAMES);
const CAUSES: Record<string, string> = {
  host_call: 'a call of the host', host_other: 'host code between calls', profiler: 'the profiler', host_function: 'a host function',
  other_device: 'another device', launch_latency: 'launch latency', queue_gap: 'a gap between operations',
  before_first: 'before the first work', after_last: 'after the last work', unknown: 'unknown',
};

const named = (names: Record<string, string>, id: string): string => (Object.hasOwn(names, id) ? names[id]! : id || 'unnamed');
export const kindName = (kind: string): string => named(NAMES, kind);
export const causeName = (cause: string): string => named(CAUSES, cause);

/// The work of the device first, then the host's, then what is neither.
export const inOrder = (kinds: Iterable<string>): string[] => {
  const place = (kind: string) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return [...new Set(kinds)].sort((a, b) => place(a) - place(b));
};

const COLOURS: Record<string, number> = { kernel: 0, copy: 2, set: 5, call: 1, other: 4, host_function: 7, launch_latency: 3 };
export const colourOf = (kind: string, of: Look): string => (Object.hasOwn(COLOURS, kind) ? of.series[COLOURS[kind]!] : of.series[6]) ?? of.muted;
