// Reads a document that may be partial or broken: pages get the outer shape they expect, and what was left
// out becomes a problem that is shown.
import { finite } from '../format';
import type { Run } from '../schema';
import type { ReportDiff, ReportPartition, ReportPipeline, ReportProblem, Profile, Report, ReportSweep, Sweep } from './document';

type Dict = Record<string, unknown>;

export const isDict = (value: unknown): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const dict = (value: unknown): Dict => (isDict(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] => list(value).filter((one) => typeof one === 'string') as string[];

function readRun(value: Dict): Run {
  const verdict = dict(value['verdict']);
  const speedup = dict(value['speedup']);
  return {
    ...(value as unknown as Run),
    model: text(value['model']) || '(unnamed)',
    backend: text(value['backend']) || '(unnamed)',
    precision: text(value['precision']) || '?',
    latency_ms: dict(value['latency_ms']) as unknown as Run['latency_ms'],
    memory: dict(value['memory']) as unknown as Run['memory'],
    accuracy: dict(value['accuracy']) as unknown as Run['accuracy'],
    speedup: isDict(speedup['over']) ? (speedup as unknown as Run['speedup']) : null,
    notes: texts(value['notes']),
    verdict: { valid: verdict['valid'] === true, reasons: texts(verdict['reasons']) },
    failure: value['failure'] ? String(value['failure']) : null,
  };
}

function readSweep(value: unknown): Sweep | null {
  if (!isDict(value) || !Array.isArray(value['runs'])) return null;
  return {
    ...(value as unknown as Sweep),
    complete: value['complete'] === true,
    context: dict(value['context']) as Sweep['context'],
    options: dict(value['options']) as Sweep['options'],
    runs: value['runs'].filter(isDict).map(readRun),
  };
}

export function readProfile(value: unknown): Profile | null {
  if (!isDict(value) || typeof value['id'] !== 'string') return null;
  const analysis = isDict(value['analysis']) ? value['analysis'] : null;
  return {
    id: value['id'],
    name: text(value['name']) || value['id'],
    path: text(value['path']),
    analysis: analysis && ({ ...analysis, doubts: list(analysis['doubts']).filter(isDict) } as unknown as Profile['analysis']),
    timeline: isDict(value['timeline']) ? (value['timeline'] as unknown as Profile['timeline']) : null,
    metadata: Object.fromEntries(Object.entries(dict(value['metadata'])).map(([key, entry]) => [key, text(entry)])),
    ready: value['ready'] !== false,
  };
}

function readSweepEntry(value: unknown): ReportSweep | null {
  const entry = dict(value);
  const sweep = readSweep(entry['sweep']);
  const pairs = list(entry['pairs']).filter((pair) => isDict(pair) && isDict(pair['speedup']) && isDict(pair['speedup']['over'])) as unknown as ReportSweep['pairs'];
  return sweep && { id: text(entry['id']), path: text(entry['path']), sweep, pairs };
}

function readDiff(value: unknown): ReportDiff | null {
  const entry = dict(value);
  return isDict(entry['diff']) ? { a: text(entry['a']), b: text(entry['b']), diff: entry['diff'] as unknown as ReportDiff['diff'] } : null;
}

function readPartition(value: unknown): ReportPartition | null {
  const entry = dict(value);
  return isDict(entry['partition']) ? { id: text(entry['id']), path: text(entry['path']), partition: entry['partition'] as unknown as ReportPartition['partition'] } : null;
}

function readPipeline(value: unknown): ReportPipeline | null {
  const entry = dict(value);
  return isDict(entry['pipeline']) ? { id: text(entry['id']), path: text(entry['path']), pipeline: entry['pipeline'] as unknown as ReportPipeline['pipeline'] } : null;
}

export function readReport(value: unknown): Report {
  if (!isDict(value) || value['schema'] !== 'hone.report') throw new Error('The document is not a report of hone.');
  if (value['version'] !== 1) throw new Error(`This page reads reports of version 1, not ${String(value['version'])}.`);
  const problems: ReportProblem[] = list(value['problems']).filter(isDict)
    .map((problem) => ({ path: text(problem['path']), text: text(problem['text']) }));
  const all = <T>(key: string, what: string, one: (part: unknown) => T | null): T[] =>
    list(value[key]).flatMap((part, i) => {
      const result = one(part);
      if (result) return [result];
      problems.push({ path: text(dict(part)['path']) || `${what} ${i + 1}`, text: `this ${what} in the document is broken and not shown` });
      return [];
    });
  return {
    schema: 'hone.report',
    version: 1,
    generated: text(value['generated']),
    hone: text(value['hone']),
    live: value['live'] === true,
    sweeps: all('sweeps', 'sweep', readSweepEntry),
    profiles: all('profiles', 'profile', readProfile),
    diffs: all('diffs', 'diff', readDiff),
    partitions: all('partitions', 'partition', readPartition),
    pipelines: all('pipelines', 'pipeline', readPipeline),
    diffs_left_out: Math.max(finite(value['diffs_left_out']) ?? 0, 0),
    problems,
  };
}
