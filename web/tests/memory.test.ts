// Memory: figures, the curve and who held memory, as in the analysis.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer } from './browser';
import { analysisOf, badAnalyses, documentWith, expectShown, figureOf, rowsOf, tableOf } from './views';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());

const HASH = '#/profile/p/memory';
const START = 5_000_000_000;
const device = (id: number, reserved: boolean) => ({
  device: id, allocations: 10, frees: 8, totals_by_allocator: true, addressed: true, peak_time_ns: START + 2000, peak_bytes: 3_000_000 + id,
  reserved_peak_bytes: reserved ? 4_000_000 : null, live_at_end_bytes: 512, unknown_frees: 3, older_at_peak_bytes: 100,
  at_peak: [{ name: 'aten::conv2d', bytes: 2_000_000, allocations: 2 }, { name: 'cudaMalloc', bytes: 900_000, allocations: 1 }],
  curve: [1, 2, 3].map((i) => ({ time_ns: START + 1000 * i, allocated_bytes: 1_000_000 * i, reserved_bytes: reserved ? 4_000_000 : null })),
});
const made = () => ({ ...analysisOf('known_path'), memory: { start_ns: START, end_ns: START + 10_000, devices: [device(-1, false), device(0, true)] } });
const open = (analysis: unknown, hash = HASH) => viewer.open(documentWith(analysis, { timeline: { origin_ns: START } }), hash);

describe('memory', () => {
  it('has the figures of the analysis', async () => {
    const { page } = await open(made());
    const shown = await Promise.all(['Peak in use', 'Held at the end', 'Allocations', 'Frees', 'Frees of older memory', 'Older memory at the peak'].map((label) => figureOf(page, label)));
    expect(shown).toEqual([2_999_999, 512, 10, 8, 3, 100]);
    expect((await rowsOf(tableOf(page, 'Held at the peak'))).map((row) => [row['Held by'], row['Size'], row['Allocations']])).toEqual([['aten::conv2d', 2_000_000, 2], ['cudaMalloc', 900_000, 1]]);
  });

  it('shows the device of the address, with what its allocator held', async () => {
    const { page } = await open(made(), `${HASH}?device=1`);
    expect(await figureOf(page, 'Peak in use')).toBe(3_000_000);
    expect(await figureOf(page, 'Peak reserved')).toBe(4_000_000);
    const drawn = await page.locator('.canvas svg').innerHTML();
    expect(drawn).toContain('reserved');
    await page.getByRole('button', { name: 'As table' }).click();
    await page.locator('.chart table').waitFor();
    const rows = await rowsOf(page.locator('.chart table'));
    expect(rows.map((row) => [row['Time'], row['Allocated'], row['Reserved']])).toEqual([1, 2, 3].map((i) => [1000 * i, 1_000_000 * i, 4_000_000]));
    await page.getByRole('radio', { name: 'Host' }).click();
    await expect.poll(() => page.url()).toContain('device=0');
  });

  it('leads to its peak in the timeline', async () => {
    const { page } = await open(made());
    const href = await page.getByRole('link', { name: 'The peak in the timeline' }).getAttribute('href');
    const query = new URLSearchParams(href!.split('?')[1]);
    expect([Number(query.get('from')), Number(query.get('to'))]).toEqual([1700, 2300]);
  });

  it('says what would record it', async () => {
    const { page } = await open({ ...made(), memory: { start_ns: 0, end_ns: 1, devices: [] } });
    expect(await page.locator('main').innerText()).toContain('hone profile --profile-memory');
  });

  it.each(badAnalyses(made()))('survives an analysis %s', async (_, analysis) => expectShown(await open(analysis)));
});
