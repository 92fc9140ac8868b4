// The overview shows the figures of the analysis, reconciles, links into the timeline, and survives bad data.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer } from './browser';
import { analysisOf, badAnalyses, documentWith, expectShown, figureOf, rowsOf, tableOf } from './views';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());

const HASH = '#/profile/p/overview';
const gpu = () => analysisOf('resnet50-hone-fp16-b1');
const open = (analysis: unknown, more = {}, hash = HASH) => viewer.open(documentWith(analysis, more), hash);

describe('the overview', () => {
  it('shows how busy the GPU was, and where that is known from', async () => {
    const analysis = gpu();
    const device = analysis.gpu.devices[0];
    device.occupancy.coverage = 0.5;
    const { page } = await open(analysis);
    const shown = await Promise.all(['Utilization', 'SM efficiency', 'Occupancy', 'Tensor Core kernels'].map((label) => figureOf(page, label)));
    expect(shown).toEqual([device.utilization, device.sm_efficiency, device.occupancy, device.tensor_cores].map(({ value }) => value));
    const occupancy = page.locator('.labelled', { has: page.getByText('Occupancy', { exact: true }) });
    expect(await occupancy.innerText()).toContain('of 50.0\u202f% of kernel time');
    expect(await page.getByText('Tensor Core kernels').locator('..').locator('.mark').getAttribute('aria-label')).toContain('name');
  });

  it('shows what steps are spent on, adding up to the step', async () => {
    const { steps } = gpu();
    const { page } = await open(gpu());
    const [whole, ...rows] = await rowsOf(tableOf(page, 'Execution summary'));
    expect(whole!['Mean']).toBe(steps.step.mean_ns);
    expect(rows.map((row) => [row['Mean'], row['Share']])).toEqual(Object.values<any>(steps.categories).map((cost) => [cost.mean_ns, cost.share]));
    expect(rows.reduce((sum, row) => sum + Number(row['Mean']), 0)).toBeCloseTo(steps.step.mean_ns, 3);
  });

  it('shows the budget and what recording cost', async () => {
    const { layers } = gpu();
    const { page } = await open(gpu(), { metadata: { latency_plain_ms: '0.320', latency_recorded_ms: '0.480' } });
    const rows = await rowsOf(tableOf(page, 'Latency budget'));
    expect(rows.map((row) => row['Median'])).toEqual([layers.iteration, layers.device_busy, layers.layer_sum, layers.other_device].map((time) => time.median_ns));
    expect(await figureOf(page, 'Recorded by not recorded')).toBeCloseTo(1.5, 12);
    const idle = await rowsOf(tableOf(page, 'Idle time of GPU 0'));
    expect(idle.map((row) => row['Time'])).toEqual(gpu().idle.devices[0].causes.map((row: any) => row.time_ns));
  });

  it.each([
    ['noise', '0.480', 'no difference beyond noise'], ['too few runs', '0.480', 'too few runs to tell'],
    [undefined, '0.310', 'no difference that can be told'], ['differs', '0.310', '0.969'],
  ])('says what a verdict of %s on %s ms recorded tells', async (verdict, recorded, said) => {
    const metadata = { latency_plain_ms: '0.320', latency_recorded_ms: recorded, ...(verdict && { recording_cost: verdict }) };
    const { page } = await open(gpu(), { metadata });
    expect(await page.getByText('Recorded by not recorded').locator('..').innerText()).toContain(said);
  });

  it('shows advice that leads into the timeline', async () => {
    const analysis = gpu();
    const { page } = await open(analysis);
    const card = page.locator('.advice').nth(1);
    expect(await card.innerText()).toContain(analysis.advice.advice[1].problem);
    const place = analysis.advice.advice[1].evidence.find((one: any) => Number.isFinite(one.start_ns));
    const href = await card.getByRole('link').first().getAttribute('href');
    const query = new URLSearchParams(href!.split('?')[1]);
    expect(Number(query.get('from'))).toBeLessThanOrEqual(place.start_ns - analysis.summary.start_ns);
    expect(Number(query.get('to'))).toBeGreaterThanOrEqual(place.end_ns - analysis.summary.start_ns);
    await card.getByRole('button').press('Enter');
    await expect.poll(() => page.url()).toContain(`sel=${analysis.advice.advice[1].rule}`);
  });

  it('leads from a step to its window by keyboard', async () => {
    const { page } = await open(gpu());
    await page.getByRole('img', { name: /^Steps\./ }).press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/profile\/p\/timeline\?from=\d+&to=\d+/);
  });

  it('shows a part of very many steps at a time', async () => {
    const analysis = gpu();
    const [step] = analysis.steps.steps;
    analysis.steps.steps = Array.from({ length: 950 }, (_, i) => ({ ...step, name: `ProfilerStep#${i}` }));
    const { page } = await open(analysis, {}, `${HASH}?steps=2`);
    expect(await page.locator('.chart select').inputValue()).toBe('2');
    await page.locator('.chart select').selectOption('5');
    await expect.poll(() => page.url()).toContain('steps=5');
    const drawn = page.locator('.chart').filter({ has: page.getByRole('heading', { name: 'Steps' }) }).locator('svg');
    await expect.poll(() => drawn.innerHTML()).toContain('>800<');
  });

  it.each([[1280, false], [390, true]])('fits %s px', async (width, dark) => {
    const { page } = await viewer.open(documentWith(gpu()), HASH, { width, dark });
    await page.waitForSelector('.canvas svg');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });

  it.each(badAnalyses(gpu()))('survives an analysis %s', async (_, analysis) => expectShown(await open(analysis)));
});
