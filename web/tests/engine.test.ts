// The engine's graph: every step below what it reads from, nothing overlaps, and no document breaks or hangs it.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readersOf, rowsOf } from '../src/pages/layers/model';
import { columnsOf, layoutOf } from '../src/pages/engine/layout';
import { crossings, orderOf } from '../src/pages/engine/ordering';
import { spread } from '../src/pages/engine/placing';
import { ranksOf, slotsOf } from '../src/pages/engine/ranks';
import { stepTo } from '../src/pages/engine/walk';
import { NOTHINGS, profile, readTable, reportOf, settle, time } from './answers';
import { Viewer, type Opened } from './browser';
import { withDamage, withHostileNames } from './hostile';
import { analysisOf } from './views';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());
const quiet = ({ errors, requests }: Opened) => expect({ errors, requests }).toEqual({ errors: [], requests: [] });

/// Blocks with a way around them.
const RESIDUAL = [[], [0], [1], [0, 2], [3], [4], [3, 5], [6]];
/// Each reads all before it.
const DENSE = Array.from({ length: 40 }, (_, i) => Array.from({ length: i }, (_, k) => k));

const layer = (name: string, ns: number, predecessors: unknown, more: object = {}) => ({
  name, kind: 'Conv', tactic: 'gemm', inputs: '["float32 1x3"]', outputs: '["float32 1x8"]', sources: JSON.stringify([`${name}.a`, `${name}.b`]), time: time(ns),
  kernels: [], flops: 0, bytes: 0, flops_per_second: 0, bytes_per_second: 0, floor_ns: 0, over_floor: 0, predecessors, rivals: [], ...more,
});
const RIVALS = [
  { tactic: 'slow', layout: 'plain', time_ns: 900, chosen: false, refusal: '' }, { tactic: 'gemm', layout: 'plain', time_ns: 300, chosen: true, refusal: '' },
  { tactic: 'untimed', layout: '', time_ns: 0, chosen: false, refusal: '' }, { tactic: 'winograd', layout: 'plain', time_ns: 0, chosen: false, refusal: 'its window is 1x1' },
];
const residual = () => ({
  layers: RESIDUAL.map((reads, i) => layer(`step${i}`, 100 * (i + 1), reads, i === 3 ? { rivals: RIVALS } : i === 7 ? { kind: 'Reorder', sources: '[]' } : {})),
  layer_sum: time(3600), other_device: time(0), device_busy: time(0), host: time(4000), iteration: time(4000), iteration_trend_ns: null, notes: [],
});
const opened = (layers: unknown, query = '', view = {}) => viewer.open(reportOf([profile({ layers })]), `#/profile/p/engine${query}`, view);
const boxes = (page: Page) => page.locator('.pan [data-step]');

describe('the layout', () => {
  it.each([['residual', RESIDUAL], ['dense', DENSE], ['apart', [[], [], [], [2]]]])('%s: below what is read, and nothing overlaps', (_, reads) => {
    const columns = columnsOf(reads, 100)!;
    const { boxes: all, ranks, wires, width, height } = layoutOf(columns, 100, reads.map((__, i) => 40 + (i % 3) * 20));
    reads.forEach((from, step) => from.forEach((one) => {
      expect(ranks[one]).toBeLessThan(ranks[step]!);
      expect(all[one]!.y + all[one]!.height).toBeLessThan(all[step]!.y);
    }));
    all.forEach((a, i) => {
      expect(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height).toBe(true);
      all.slice(i + 1).forEach((b) => expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true));
    });
    reads.forEach((__, step) => expect(wires[step] !== '').toBe(reads.some((from) => from.includes(step))));
  });
  it('puts what reads nothing right above who needs it', () => expect(ranksOf([[], [0], [1], [], [2, 3]])).toEqual([0, 1, 2, 2, 3]));
  it('has one line for all readers of a step', () => expect(slotsOf(DENSE, 1000)!.slots).toHaveLength(40 + (38 * 39) / 2));
  it('gives up on lines without end', () => expect(columnsOf(Array.from({ length: 2000 }, (_, i) => (i ? [0, i - 1] : [])).map((reads, i) => (i > 1000 ? [...reads, i - 1000] : reads)), 10)).toBeNull());
  it('lets fewer lines cross', () => {
    // Pairs in the wrong order.
    const rows = slotsOf([[], [], [], [2], [1], [0]], 10)!;
    expect([crossings(rows, rows.rows), crossings(rows, orderOf(rows))]).toEqual([3, 0]);
  });
  it('spreads to the nearest positions', () => {
    expect(spread([0, 0, 50], [0, 10, 10], [1, 1, 1])).toEqual([-5, 5, 50]);
    expect(spread([5, 0], [0, 10], [9, 1])).toEqual([3.5, 13.5]);
  });
  it('leads a line to its reader alone', () => {
    const { route, wires } = layoutOf(columnsOf(RESIDUAL, 100)!, 100, RESIDUAL.map(() => 40));
    expect(route(0, 1) + route(0, 3)).toHaveLength(wires[0]!.length);
    expect(wires[0]).toContain(route(0, 1));
  });
});

describe('edges of a document', () => {
  const reads = (layers: unknown) => rowsOf({ layers } as never).map((row) => row.reads);
  it('only lead to earlier layers', () => {
    expect(reads([layer('a', 1, [0, 1, -1]), layer('b', 1, [0, 0, 1, 7, 1e300, 0.5, '0', null, NaN]), layer('c', 1, 'text'), layer('d', 1, [2, 0])])).toEqual([[], [0], [], [0, 2]]);
  });
  it('are none where a layer is missing', () => expect(reads([layer('a', 1, []), 7, layer('b', 1, [0])])).toEqual([[], []]));
  it('are none where they are millions', () => {
    const many = Array.from({ length: 1_000_000 }, (_, i) => i % 3);
    expect(reads([layer('a', 1, []), layer('b', 1, [0]), layer('c', 1, many), layer('d', 1, [0])])).toEqual([[], [], [], []]);
  });
  it('have readers', () => expect(readersOf(rowsOf(residual() as never))[0]).toEqual([1, 3]));
  it('lead arrow keys', () => {
    const rows = rowsOf(residual() as never);
    const to = (key: string, at: number) => stepTo(key, at, rows, readersOf(rows), layoutOf(columnsOf(RESIDUAL, 100)!, 100, RESIDUAL.map(() => 40)));
    expect([to('ArrowDown', 1), to('ArrowUp', 2), to('End', 0), to('Home', 5), to('ArrowDown', 7), to('a', 1)]).toEqual([2, 1, 7, 0, null, null]);
  });
});

describe('Engine as a graph', () => {
  it('draws every layer, and the times of the document', async () => {
    const view = await opened(residual());
    expect(await boxes(view.page).count()).toBe(8);
    const labels = await boxes(view.page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    expect(labels[3]).toMatch(/^Layer 4, step3, Conv · gemm, 396\sns, reads from layer 1, layer 3$/);
    const heats = await view.page.locator('.pan .box > rect:nth-of-type(2)').evaluateAll((all) => all.map((one) => Number(one.getAttribute('fill-opacity'))));
    expect(heats).toEqual([...heats].sort((a, b) => a - b));
    expect(await view.page.locator('.heat-keys').innerText()).toContain('792');
    quiet(view);
  });

  it('opens a layer by click, by Enter and by link, with rivals and refusals', async () => {
    const view = await opened(residual(), '?sel=3');
    const drawer = view.page.locator('.drawer');
    const table = await readTable(view.page, 'Tactics of the layer');
    expect([table.column('Tactic'), table.column('Time'), table.column('Chosen')]).toEqual([['gemm', 'slow', 'untimed'], ['300', '900', '–'], ['chosen', '–', '–']]);
    expect(await drawer.locator('.refusals').innerText()).toContain('its window is 1x1');
    await drawer.getByRole('button', { name: '3 · step2' }).click();
    await expect.poll(() => view.page.url()).toContain('sel=2');
    await view.page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await boxes(view.page).nth(5).click({ position: { x: 20, y: 20 } });
    await expect.poll(() => drawer.innerText()).toContain('step5.b');
    await boxes(view.page).nth(5).press('ArrowDown');
    await view.page.locator('[data-step="6"]:focus').press('Enter');
    await expect.poll(() => view.page.url()).toContain('sel=6');
    quiet(view);
  });

  it('has one stop for Tab, and unfolds what was fused', async () => {
    const view = await opened(residual());
    expect(await view.page.locator('.pan [tabindex="0"]').count()).toBe(2);
    const height = () => view.page.locator('.pan > svg').evaluate((svg) => Number(svg.getAttribute('height')));
    const before = await height();
    await view.page.locator('.pan .toggle[tabindex="0"]').press('Enter');
    await expect.poll(() => boxes(view.page).first().innerHTML()).toContain('step0.b');
    expect(await height()).toBeGreaterThan(before);
    await expect.poll(() => view.page.url()).toContain('open=0');
    expect(await view.page.locator('.drawer').count()).toBe(0);
    quiet(view);
  });

  it('zooms, and shows the whole', async () => {
    const { page } = await opened(residual(), '', { height: 500 });
    const svg = page.locator('.pan > svg');
    const full = await svg.boundingBox();
    await page.getByRole('button', { name: 'Whole' }).click();
    const pan = await page.locator('.pan').boundingBox();
    await expect.poll(async () => (await svg.boundingBox())!.height).toBeLessThanOrEqual(pan!.height);
    const whole = await svg.boundingBox();
    await boxes(page).first().press('+');
    await expect.poll(async () => (await svg.boundingBox())!.height).toBeCloseTo(whole!.height * 1.25, 0);
    await page.getByRole('button', { name: /back to 100/ }).click();
    await expect.poll(async () => (await svg.boundingBox())!.height).toBeCloseTo(full!.height, 0);
  });

  it('shows where a link leads', async () => {
    const layers = residual();
    layers.layers = Array.from({ length: 300 }, (_, i) => layer(`step${i}`, 100, i ? [i - 1] : []));
    const { page } = await opened(layers, '?sel=250');
    await page.waitForSelector('.drawer');
    const [box, pan] = [await page.locator('[data-step="250"]').boundingBox(), await page.locator('.pan').boundingBox()];
    expect(box!.y > pan!.y && box!.y + box!.height < pan!.y + pan!.height).toBe(true);
  });

  it('is a list on request, and where there are no edges', async () => {
    const { page } = await opened(residual(), '?form=list');
    expect([await page.locator('.engine .step').count(), await page.locator('.pan').count()]).toEqual([8, 0]);
    const without = await viewer.open(reportOf([profile(analysisOf('resnet18-hone-fp32-b1'))]), '#/profile/p/engine');
    expect(await without.page.locator('.pan').count()).toBe(0);
    expect(await without.page.locator('main').innerText()).toContain('holds no edges');
  });

  it('is saved as a picture of its own', async () => {
    const { page } = await opened(residual());
    await page.getByRole('button', { name: 'Whole' }).click();
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'SVG' }).click()]);
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    const svg = Buffer.concat(chunks).toString();
    const [, width] = /viewBox="0 0 ([\d.]+)/.exec(svg)!;
    expect(svg).toContain(`width="${width}"`);
    expect(svg).toContain('step7');
  });

  it('shows the selected layer above the panel of a phone', async () => {
    const { page } = await opened(residual(), '?sel=5', { width: 390, height: 844 });
    const [box, drawer] = [await page.locator('[data-step="5"]').boundingBox(), await page.locator('.drawer').boundingBox()];
    expect(box!.y > 0 && box!.y + box!.height < drawer!.y).toBe(true);
  });

  it.each([[1280, false], [390, true]])('fits %s px', async (width, dark) => {
    const { page } = await opened(residual(), '?open=all&sel=2', { width, dark });
    await page.waitForSelector('.pan');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });
});

describe('bad graphs', () => {
  async function visit(layers: unknown): Promise<void> {
    const view = await opened(layers, '?sel=1&open=all');
    await settle(view.page);
    expect(await view.page.getByText('This part cannot be shown').count()).toBe(0);
    expect(await view.page.evaluate(() => (window as any).harmed)).toBeUndefined();
    quiet(view);
  }
  it.each(NOTHINGS)('%s', (_, layers) => visit(layers));
  it('with hostile names', () => visit(withHostileNames(residual())));
  it('with odd times', () => visit({ ...residual(), layers: [null, -5, 1e308, 'x'].map((ns, i) => layer('s', 1, i ? [0] : [], { time: { median_ns: ns, mean_ns: ns } })) }));
  it.each([1, 2, 3, 4])('with damage %s', (seed) => visit(withDamage(residual(), seed, 6, undefined, 4)));
  it('with more layers than can be drawn', async () => {
    const { page } = await opened({ ...residual(), layers: Array.from({ length: 2500 }, (_, i) => layer('s', 1, i ? [i - 1] : [])) });
    expect(await page.locator('.pan').count()).toBe(0);
    expect(await page.locator('main').innerText()).toContain('too large to be drawn');
  });
});
