// Transfers: traffic by direction and what it overlaps with, as in the analysis.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer } from './browser';
import { analysisOf, badAnalyses, documentWith, expectShown, figureOf, rowsOf, tableOf } from './views';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());

const HASH = '#/profile/p/transfers';
const gpu = () => analysisOf('resnet50-hone-fp16-b1');
const open = (analysis: unknown, hash = HASH) => viewer.open(documentWith(analysis), hash);

describe('transfers', () => {
  it('have the figures of the analysis', async () => {
    const [device] = gpu().transfers.devices;
    const { page } = await open(gpu());
    expect(await figureOf(page, 'Hideable')).toBe(device.hideable_ns);
    expect([await figureOf(page, 'Copies ran'), await figureOf(page, 'Kernels ran'), await figureOf(page, 'Both ran')]).toEqual([device.total.link_ns, device.total.compute_ns, device.total.both_ns]);
    const rows = await rowsOf(tableOf(page, 'Copies of GPU 0'));
    expect(rows.map((row) => [row['Direction'], row['Copies'], row['Size'], row['Busy'], row['Rate']]))
      .toEqual(Object.entries<any>(device.total.directions).map(([name, one]) => [name, one.copies, one.bytes, one.busy_ns, one.bytes_per_second]));
  });

  it('show each step by what ran, adding up to it', async () => {
    const [device] = gpu().transfers.devices;
    const { page } = await open(gpu());
    await page.locator('.chart').getByRole('button', { name: 'As table' }).click();
    await page.locator('.chart table').waitFor();
    const rows = await rowsOf(page.locator('.chart table'));
    const parts = ['copies only', 'copies and kernels', 'kernels only', 'within the device only', 'idle'];
    expect(rows.map((row) => parts.map((part) => row[part]))).toEqual(device.steps.map((one: any) => [one.link_only_ns, one.both_ns, one.compute_only_ns, one.other_ns, one.idle_ns]));
    for (const row of rows) expect(parts.reduce((sum, part) => sum + Number(row[part]), 0)).toBe(row['Length']);
  });

  it('lead from a step to its window by keyboard', async () => {
    const { page } = await open(gpu());
    await page.locator('.canvas').press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/profile\/p\/timeline\?from=\d+&to=\d+/);
  });

  it('of a trace without steps are one ring', async () => {
    const { page } = await open(analysisOf('known_path'));
    expect(await page.getByRole('heading', { name: 'Time of GPU 0' }).count()).toBe(1);
  });

  it('are said to be missing where only the CPU worked', async () => {
    const { page } = await open(analysisOf('resnet18-hone-fp32-b1'));
    expect(await page.locator('main').innerText()).toContain('No transfers were recorded');
  });

  it.each(badAnalyses(gpu()))('survive an analysis %s', async (_, analysis) => expectShown(await open(analysis)));
});
