// Layers and the engine: figures are those of the document, and no document breaks them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { find, pathOf, treeOf } from '../src/pages/layers/blocks';
import { rowsOf } from '../src/pages/layers/model';
import { roofOf } from '../src/pages/layers/roof';
import { squarify } from '../src/pages/layers/squarify';
import { Viewer, type Opened } from './browser';
import { withDamage, withHostileNames } from './hostile';
import { analysisOf } from './views';
import { NOTHINGS, numbers, profile, readTable, reportOf, settle, time } from './answers';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());
const quiet = ({ errors, requests }: Opened) => expect({ errors, requests }).toEqual({ errors: [], requests: [] });

const layer = (name: string, ns: number, more: object = {}) => ({
  name, kind: 'Conv', tactic: 'gemm', inputs: '["float32 1x3"]', outputs: 'not JSON', sources: JSON.stringify([name]), time: time(ns), kernels: [],
  flops: 0, bytes: 0, flops_per_second: 0, bytes_per_second: 0, floor_ns: 0, over_floor: 0, ...more,
});
const small = {
  layers: [
    layer('block.0.conv', 600, { flops: 8000, bytes: 100, floor_ns: 10, over_floor: 60, flops_per_second: 1.3e10, bytes_per_second: 1e8 }),
    layer('block.1.conv', 300, { flops: 1000, bytes: 400, floor_ns: 20, over_floor: 15, flops_per_second: 3e9, bytes_per_second: 1e9 }),
    layer('head', 100, { kind: 'Gemm' }),
  ],
  layer_sum: time(1000), other_device: time(10), device_busy: time(900), host: time(1500), iteration: time(1500), iteration_trend_ns: null, notes: ['a note of the analysis'],
  threads: { threads: 2, layers: [{ name: 'head', calls: 5, wall_ns: 500, cpu_ns: 900, slowest_thread_ns: 460, imbalance: 0.02, cycles: 1000, instructions: 2500, cache_misses: 7 }] },
};

describe('the model of layers', () => {
  const rows = rowsOf(small as never);

  it('shares add up to 1', () => expect(rows.reduce((all, { share }) => all + share!, 0)).toBeCloseTo(1, 12));
  it('takes 0 for not known, and text that is not JSON as it is', () => expect([rows[2]!.flops, rows[2]!.outputs]).toEqual([null, ['not JSON']]));
  it('finds the block that all nodes of a layer share', () => {
    const of = (sources: string[]) => pathOf({ ...rows[0]!, sources });
    expect([of(['layer1.0.conv1', 'layer1.0.bn1']), of(['layer1.0.conv1', 'layer1.1.bn1']), of(['conv1', 'bn1']), of([]), of(['/a/b/Conv'])])
      .toEqual([['layer1', '0'], ['layer1'], [], [], ['a', 'b']]);
  });
  it('adds up blocks', () => {
    const root = treeOf(rows, 'block');
    expect([root.time, find(root, ['block']).time, find(root, ['block', '1']).layers]).toEqual([1000, 900, 1]);
    expect(treeOf(rows, 'kind').children.map(({ name, time: ns }) => [name, ns])).toEqual([['Conv', 900], ['Gemm', 100]]);
  });
  it('derives the roof from floors', () => {
    expect(roofOf(rows)).toEqual({ flopsPerSecond: 8e11, bytesPerSecond: 2e10, ridge: 40 });
    expect(roofOf(rows.slice(2))).toBeNull();
  });
  it('fills a box with areas in proportion', () => {
    const boxes = squarify([6, 3, 2, 1], { x: 0, y: 0, width: 40, height: 30 });
    expect(boxes.map(({ width, height }) => Math.round(width * height))).toEqual([600, 300, 200, 100]);
    expect(boxes.every(({ x, y, width, height }) => x >= 0 && y >= 0 && x + width <= 40.001 && y + height <= 30.001)).toBe(true);
  });
});

describe('Layers', () => {
  it('shows the figures of the document', async () => {
    const analysis = analysisOf('resnet50-hone-fp16-b1');
    const opened = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/layers');
    const table = await readTable(opened.page, 'Layers');
    const { layers, layer_sum: sum } = analysis.layers;
    const of = (pick: (one: any) => unknown) => layers.map(pick);
    expect(table.column('Name')).toEqual(of((one) => one.name));
    expect(numbers(table.column('Median'))).toEqual(of((one) => one.time.median_ns));
    expect(numbers(table.column('Floor'))).toEqual(of((one) => one.floor_ns));
    expect(numbers(table.column('FLOP/s'))).toEqual(of((one) => one.flops_per_second));
    numbers(table.column('Share')).forEach((share, i) => expect(share).toBeCloseTo(layers[i].time.mean_ns / sum.mean_ns, 12));
    const sums = await opened.page.locator('.sum [data-value]').evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset['value'])));
    expect(sums).toEqual(['layer_sum', 'other_device', 'device_busy', 'host', 'iteration'].map((name) => analysis.layers[name].median_ns));
    expect(await opened.page.locator('figure.chart').count()).toBe(3);
    quiet(opened);
  });

  it('opens a layer by link, by key and from a chart, and closes it with Esc', async () => {
    const { page } = await viewer.open(reportOf([profile(analysisOf('resnet50-hone-fp16-b1'))]), '#/profile/p/layers?sel=3');
    const drawer = page.locator('.drawer');
    expect(await drawer.innerText()).toContain('layer1.0.conv2 + layer1.0.bn2');
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await page.locator('table tr[tabindex="0"]').press('Home');
    await page.locator('table tr[data-index="0"]:focus').press('Enter');
    await expect.poll(() => drawer.locator('table').innerText()).toContain('pad_image');
    await page.keyboard.press('Escape');
    const box = page.locator('.canvas').first();
    await box.press('ArrowRight');
    await box.press('ArrowRight');
    await box.press('Enter');
    await expect.poll(() => page.url()).toContain('sel=1');
  });

  it('goes on in a chart from where the reader was, after a layer was looked at', async () => {
    const { page } = await viewer.open(reportOf([profile(analysisOf('resnet50-hone-fp16-b1'))]), '#/profile/p/layers');
    const box = page.locator('.canvas').first();
    await box.press('ArrowRight');
    await box.press('ArrowRight');
    await box.press('Enter');
    await page.locator('.drawer').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.drawer').waitFor({ state: 'detached' });
    await settle(page);
    await box.press('ArrowRight');
    await box.press('Enter');
    await expect.poll(() => page.url()).toContain('sel=2');
  });

  it('goes into a block, and keeps that in the address', async () => {
    const { page } = await viewer.open(reportOf([profile({ layers: small })]), '#/profile/p/layers?by=kind');
    const tree = page.locator('figure', { hasText: 'Time by kind' });
    await tree.locator('.canvas').press('ArrowRight');
    await tree.locator('.canvas').press('Enter');
    await expect.poll(() => page.url()).toContain('block=Conv');
    await expect.poll(() => tree.locator('.crumbs').innerText()).toContain('Conv');
  });

  it('tells of threads and notes', async () => {
    const opened = await viewer.open(reportOf([profile({ layers: small })]), '#/profile/p/layers');
    const threads = await readTable(opened.page, 'Threads by layer');
    expect([threads.column('Instructions per cycle'), threads.column('Imbalance'), threads.column('CPU time')]).toEqual([['2.5'], ['0.02'], ['900']]);
    expect((await readTable(opened.page, 'Layers')).column('Headroom')).toEqual(['60', '15', '–']);
    expect(await opened.page.locator('main').innerText()).toContain('a note of the analysis');
    quiet(opened);
  });

  it.each([[1280, false], [390, true]])('fits %s px', async (width, dark) => {
    const { page } = await viewer.open(reportOf([profile(analysisOf('resnet50-hone-fp16-b1'))]), '#/profile/p/layers?scale=log', { width, dark });
    await page.waitForSelector('.canvas svg');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });
});

describe('Engine', () => {
  it('lists layers as they run, and unfolds what was fused', async () => {
    const analysis = analysisOf('resnet18-hone-fp32-b1');
    const opened = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/engine');
    const names = await opened.page.locator('.engine .what > .name').allInnerTexts();
    expect(names).toEqual(analysis.layers.layers.map((one: any) => one.name));
    await opened.page.getByRole('button', { name: 'Unfold all' }).click();
    await expect.poll(() => opened.page.locator('.engine .nodes li').allInnerTexts()).toEqual(analysis.layers.layers.map((one: any) => JSON.parse(one.sources)).filter((all: string[]) => all.length > 1).flat());
    await opened.page.locator('.engine .step').first().press('ArrowDown');
    await opened.page.keyboard.press('Enter');
    await expect.poll(() => opened.page.locator('.drawer').innerText()).toContain(analysis.layers.layers[1].tactic);
    quiet(opened);
  });
});

describe('bad layers', () => {
  async function visit(analysis: unknown): Promise<void> {
    const opened = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/layers?sel=0&scale=log&block=x~y');
    for (const hash of ['#/profile/p/engine?open=all&sel=1', '#/profile/p/layers?by=kind']) {
      await settle(opened.page);
      expect(await opened.page.getByText('This part cannot be shown').count()).toBe(0);
      await opened.page.evaluate((to) => { location.hash = to; }, hash);
    }
    await settle(opened.page);
    expect(await opened.page.evaluate(() => (window as any).harmed)).toBeUndefined();
    quiet(opened);
  }

  it.each(NOTHINGS)('%s', (_, layers) => visit({ layers }));
  it('with hostile names', () => visit(withHostileNames(analysisOf('resnet50-hone-fp16-b1'))));
  it.each([1, 2, 3, 4])('with damage %s', (seed) => visit({ layers: withDamage(analysisOf('resnet50-hone-fp16-b1').layers, seed, 8, undefined, 4) }));
});
