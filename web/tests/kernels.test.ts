// Tables of what ran: figures as in the analysis, groups that add up, and whole names for short ones.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instanceName, shortName } from '../src/pages/parts/short_name';
import { Viewer } from './browser';
import { analysisOf, badAnalyses, documentWith, expectShown, rowsOf, tableOf } from './views';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());

const HASH = '#/profile/p/kernels';
const gpu = () => analysisOf('resnet50-hone-fp16-b1');
const open = (analysis: unknown, hash = HASH) => viewer.open(documentWith(analysis), hash);
const sum = (rows: any[], field: string) => rows.reduce((total, row) => total + row[field], 0);

describe('a short name', () => {
  it.each([
    ['void a::b::(anonymous namespace)::f<4, c::D<int>>(int*, (anonymous namespace)::E)', 'f'],
    ['sm80_xmma_fprop_f16', 'sm80_xmma_fprop_f16'],
    ['[CUDA memcpy HtoD]', '[CUDA memcpy HtoD]'],
    ['<Launch latency>', '<Launch latency>'],
    ['conv1 + bn1 + relu', 'conv1 + bn1 + relu'],
    ['void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm>(Params)', 'cutlass_80_tensorop_s16816gemm'],
    ['', ''],
    ['>>>(((', '>>>((('],
  ])('of %s is %s', (name, short) => expect(shortName(name)).toBe(short));
});

describe('the name of an instance', () => {
  it.each([
    ['void a::b::(anonymous namespace)::f<4, c::D<int>>(int*, (anonymous namespace)::E)', 'f<4, D<int>>'],
    ['sm80_xmma_fprop_f16', 'sm80_xmma_fprop_f16'],
    ['void f(int<3>)', 'f'],
    ['f<<<', 'f'],
    ['', ''],
  ])('of %s is %s', (name, instance) => expect(instanceName(name)).toBe(instance));
});

describe('kernels', () => {
  it('have the figures of the analysis', async () => {
    const analysis = gpu();
    const activities = analysis.summary.gpu_activities;
    activities.filter(({ kind }: any) => kind === 'kernel').slice(0, 2).forEach((one: any) => { one.tensor_cores_by = 'instructions'; });
    const { page } = await open(analysis);
    const rows = await rowsOf(tableOf(page, 'GPU activities'));
    const byTotal = [...activities].sort((a, b) => b.total_ns - a.total_ns);
    expect(rows.map((row) => [row['Calls'], row['Total'], row['Median'], row['Max'], row['Share']]))
      .toEqual(byTotal.map((one) => [one.calls, one.total_ns, one.median_ns, one.max_ns, one.share]));
    const told = (one: any) => (one.tensor_cores ? 'yes' : 'no') + (one.tensor_cores_by === 'instructions' ? '' : '◇');
    expect(rows.map((row) => row['Tensor Cores'])).toEqual(byTotal.map((one) => (one.kind !== 'kernel' ? '–' : told(one))));
  });

  it.each(['base', 'kind'])('grouped by %s add up', async (group) => {
    const activities = gpu().summary.gpu_activities;
    const { page } = await open(gpu(), `${HASH}?group=${group}`);
    const rows = await rowsOf(tableOf(page, 'GPU activities'));
    expect(rows.length).toBeLessThan(activities.length);
    expect([sum(rows, 'Calls'), sum(rows, 'Total'), sum(rows, 'Names')]).toEqual([sum(activities, 'calls'), sum(activities, 'total_ns'), activities.length]);
  });

  it('show the whole name of a selected one, by keyboard and by link', async () => {
    const name = gpu().summary.gpu_activities[0].name;
    const { page } = await open(gpu());
    await tableOf(page, 'GPU activities').locator('tbody tr').first().press('Enter');
    await expect.poll(() => page.locator('.detail').innerText()).toContain(name);
    await page.reload();
    await expect.poll(() => page.locator('.detail').innerText()).toContain(name);
  });

  it('stand beside copies, calls and ranges', async () => {
    const { summary } = gpu();
    const { page } = await open(gpu(), `${HASH}?table=copies`);
    const copies = await rowsOf(tableOf(page, 'Copies and sets'));
    expect(copies.map((row) => [row['Direction'], row['Size'], row['Rate']])).toEqual(summary.transfers.map((one: any) => [one.direction, one.bytes, one.bytes_per_second]));
    await page.getByRole('radio', { name: /^API/ }).click();
    await expect.poll(() => rowsOf(tableOf(page, 'API calls'))).toHaveLength(summary.api_calls.length);
    await expect.poll(() => page.url()).toContain('table=api');
  });

  it('stand beside what threads waited for', async () => {
    const analysis = gpu();
    analysis.summary.thread_calls = [{ ...analysis.summary.api_calls[0], kind: 'thread', name: 'pthread_mutex_lock' }];
    const { page } = await open(analysis, `${HASH}?table=threads`);
    expect((await rowsOf(tableOf(page, 'Thread calls'))).map((row) => row['Name'])).toEqual(['pthread_mutex_lock']);
  });

  it('are said to be missing where only the CPU worked', async () => {
    const analysis = analysisOf('resnet18-hone-fp32-b1');
    const { page } = await open(analysis);
    expect(await page.locator('main').innerText()).toContain('No work of a GPU was recorded');
    expect(await rowsOf(tableOf(page, 'Ranges'))).toHaveLength(analysis.summary.ranges.length);
  });

  it('have a column for each metric', async () => {
    const row = (kernel: string, metric: string, unit: string, mean: number | null) =>
      ({ device: 0, kernel, metric, unit, invocations: 3, min: mean, max: mean, mean });
    const analysis = { metrics: { launches: 6, rows: [
      row('void f<4>(int)', 'achieved_occupancy', '', 0.25), row('void f<4>(int)', 'dram_read_bytes', 'B', 2048),
      row('g', 'achieved_occupancy', '', null), null, 'text'] } };
    const { page } = await open(analysis);
    expect(await page.getByText('No work of a GPU was recorded').count()).toBe(0);
    const rows = await rowsOf(tableOf(page, 'Metrics of kernels'));
    expect(rows.map((one) => [one['Kernel'], one['Launches'], one['achieved_occupancy']])).toEqual([['f<4>', 3, 0.25], ['g', 3, '–']]);
    expect(await tableOf(page, 'Metrics of kernels').innerText()).toContain('2.048\u202fkB');
  });

  it('can be taken along as CSV and as a picture', async () => {
    const { page } = await open(gpu());
    const chart = page.locator('.chart').first();
    for (const kind of ['CSV', 'SVG', 'PNG']) {
      await chart.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), chart.getByRole('menuitem', { name: kind }).click()]);
      expect(download.suggestedFilename()).toBe(`Kernel-time.${kind.toLowerCase()}`);
    }
  });

  it.each(badAnalyses(gpu()))('survive an analysis %s', async (_, analysis) => expectShown(await open(analysis)));
});
