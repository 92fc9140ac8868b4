// Speedups are over runs of the same setup but for the system, as the program has it (src/bench/setup.hpp).
import { describe, expect, it } from 'vitest';
import { comparable } from '../src/pages/compare/comparable';
import { linesOf } from '../src/pages/compare/lines';
import type { Entry } from '../src/pages/compare/select';
import { compare } from '../src/pages/compare/speedup';
import type { Run, RunPair } from '../src/schema';

const setup = { model: 'net', backend: 'hone', precision: 'fp32', batch: 8, device: 'cuda', threads: 2, includes_transfers: false, cold_l2: false, streams: 1, busy_threads: 0 };

const run = (changes: object, p50: number) => ({ ...setup, ...changes, latency_ms: { p50, n: 10 }, speedup: null }) as unknown as Run;

const entryOf = (runs: Run[], pairs: RunPair[] = []) => ({ id: 'a', runs, pairs, machine: { key: 'm' }, sweep: { context: {} } }) as unknown as Entry;

const pair = (changes: object, ratio: number) =>
  ({ ...setup, ...changes, speedup: { over: { backend: 'torch', precision: 'fp32' }, ratio, interval: [ratio, ratio], differs: true, interleaved: true } }) as unknown as RunPair;

function speedup(runs: Run[], pairs: RunPair[] = []) {
  const line = linesOf([entryOf(runs, pairs)], ['hone', 'torch']).find(({ backend, runs: [first] }) => backend === 'hone' && first === runs[0])!;
  const found = compare(line, runs[0]!, { backend: 'torch', precision: 'fp32' });
  return found === 'baseline' ? found : (found?.ratio ?? null);
}

describe('what can be compared', () => {
  it.each([
    ['device', { device: 'cuda:1' }], ['threads', { threads: 4 }], ['includes_transfers', { includes_transfers: true }],
    ['cold_l2', { cold_l2: true }], ['busy_threads', { busy_threads: 1 }], ['batch', { batch: 1 }], ['model', { model: 'other' }],
  ])('differs in no %s', (_, changes) => {
    expect(comparable(setup, { ...setup, ...changes }, { system: true })).toBe(false);
    const other = run({ backend: 'torch', ...changes }, 2);
    expect(speedup([run({}, 1), other])).toBeNull();
    expect(speedup([run({}, 1), other, run({ backend: 'torch' }, 3)])).toBe(3);
  });

  it('may differ in what was said to, and in streams', () => {
    expect(comparable(setup, { ...setup, backend: 'torch', precision: 'fp16' }, { system: true })).toBe(true);
    expect(comparable(setup, { ...setup, batch: 1 }, { batch: true })).toBe(true);
    expect(comparable(setup, { ...setup, model: 'other' }, { model: true })).toBe(true);
    expect(comparable(setup, { ...setup, streams: 4 } as typeof setup, {})).toBe(true);
    expect(comparable({ ...setup, device: 'cpu' }, { ...setup, device: 'cpu', includes_transfers: true }, {})).toBe(true);
  });

  it('takes the pair of the same device and threads', () => {
    const runs = [run({}, 1), run({ backend: 'torch' }, 3)];
    expect(speedup(runs, [pair({ device: 'cuda:1' }, 7), pair({ threads: 4 }, 8), pair({}, 2.9)])).toBe(2.9);
  });
});
