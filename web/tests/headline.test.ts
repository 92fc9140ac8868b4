// The headline of a model: one sentence with its interval, error and verdict, and nothing where nothing is compared.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headlineOf, shownInterval } from '../src/pages/headline_text';
import { Viewer } from './browser';

const run = (backend: string, precision: string, ratio: number | null, more = {}): any => ({
  model: 'net.onnx', backend, precision, batch: 8, device: 'cpu', threads: 2, includes_transfers: true, cold_l2: false, streams: 1, busy_threads: 0,
  session: 1, backend_version: '', latency_ms: { p50: 10, p90: 11, p95: 12, p99: 13, mean: 10, sd: 1, n: 300, min: 9, max: 14, p50_interval: [9.9, 10.1], supported: [] },
  throughput_per_s: 100 * (ratio ?? 1), accuracy: { relative_l2: 0.007, max_abs: 0, top1_agreement: 1, samples: 1, reason: null },
  speedup: ratio === null ? null : { over: { backend: 'torch', precision: 'fp32' }, ratio, interval: [ratio - 0.1, ratio + 0.1], differs: Math.abs(ratio - 1) > 0.1, interleaved: true },
  memory: {}, warmup: {}, machine: {}, notes: [], verdict: { valid: true, reasons: [] }, failure: null, samples_ms: [], block_wall_ms: [], ...more,
});
const report = (...runs: any[]): any => ({
  schema: 'hone.report', version: 1, generated: '2026-11-30T01:00:00Z', hone: '0.1.0', profiles: [], diffs: [], partitions: [], problems: [],
  sweeps: [{ id: 'a', path: 'a.json', pairs: [], sweep: { schema: 'hone.bench', version: 1, complete: true, context: { cpu: 'Xeon', cores: 2, date: '2026-11-30T00:00:00Z' }, options: {}, runs } }],
});

describe('the headline', () => {
  it('names the fastest of ours, how sure that is, its error and its verdict', () => {
    const told = headlineOf(report(run('torch', 'fp32', null), run('hone', 'fp32', 1.8), run('hone', 'bf16', 4.5), run('other', 'bf16', 9)), 'net.onnx')!;
    expect(told.sentence.replace(/[\u202f\u00a0]/g, '')).toBe('hone bf16 is 4.50× [4.40×, 4.60×] as fast as torch fp32 at batch 8, error 0.7%.');
    expect([told.verdict, told.share]).toEqual(['valid', 1 / 4.5]);
    expect(told.method[0]).toContain('Xeon, 2 cores');
    expect(told.method[1]).toContain('Medians of 300 runs; the systems took turns');
  });

  it('says what is not valid, and what is noise', () => {
    const invalid = { verdict: { valid: false, reasons: ['other processes used 70 % CPU'] } };
    expect(headlineOf(report(run('hone', 'bf16', 2, invalid)), 'net.onnx')!.verdict).toBe('not valid: other processes used 70 % CPU');
    expect(headlineOf(report(run('hone', 'fp32', 1.01)), 'net.onnx')!.sentence).toContain('do not differ by more than noise');
  });

  it('draws an interval that says nothing no longer than leaves room for the bars', () => {
    const told = headlineOf(report(run('hone', 'fp32', 10, { speedup: { over: { backend: 'torch', precision: 'fp32' }, ratio: 10, interval: [0.01, 143], differs: false, interleaved: true } })), 'net.onnx')!;
    expect(shownInterval(told)).toEqual([1 / 143, 2]);
    expect(shownInterval(headlineOf(report(run('hone', 'fp32', 0.5)), 'net.onnx')!)).toEqual([1 / 0.6, 1 / 0.4]);
  });

  it('is silent where nothing is compared or everything failed', () => {
    expect(headlineOf(report(run('hone', 'fp32', null)), 'net.onnx')).toBeNull();
    expect(headlineOf(report(run('hone', 'fp32', 2, { failure: 'no' })), 'net.onnx')).toBeNull();
    expect(headlineOf(report(), 'net.onnx')).toBeNull();
  });
});

describe('the first page', () => {
  let viewer: Viewer;
  beforeAll(async () => void (viewer = await Viewer.start()));
  afterAll(() => viewer.stop());

  it('begins with it', async () => {
    const { page, errors } = await viewer.open(report(run('torch', 'fp32', null), run('hone', 'bf16', 4)), '#/');
    expect(await page.locator('.headline .said').innerText()).toContain('hone bf16 is');
    const [other, own] = await page.locator('.headline .bar').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(own! / other!).toBeCloseTo(0.25, 1);
    expect(errors).toEqual([]);
  });
});
