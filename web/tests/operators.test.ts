// Operators: figures as in the analysis, and a ring whose metric the address names.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer } from './browser';
import { analysisOf, badAnalyses, documentWith, expectShown, figureOf, rowsOf, tableOf } from './views';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());

const HASH = '#/profile/p/operators';
const row = (name: string, host: number, device: number, input_shapes: string | null = null) => ({
  name, input_shapes, calls: 2, host_self_ns: host, host_total_ns: 2 * host, device_self_ns: device, device_total_ns: 3 * device,
  device_tensor_core_ns: device / 2, tensor_core_eligible_by_name: device > 0,
});

function made(shapes = false) {
  const operators = Array.from({ length: 15 }, (_, i) => row(`aten::op${i}`, 1000 * (i + 1), 100 * (15 - i), shapes ? `[[${i}, 3]]` : null));
  return { ...analysisOf('known_path'), operators: { start_ns: 0, end_ns: 1, operators, unjoined_device_events: 7, unjoined_device_ns: 4321 } };
}
const open = (analysis: unknown, hash = HASH) => viewer.open(documentWith(analysis), hash);

describe('operators', () => {
  it('have the figures of the analysis', async () => {
    const { page } = await open(made());
    const rows = await rowsOf(tableOf(page, 'Operators'));
    expect(rows.map((one) => [one['Name'], one['Calls'], one['Host self'], one['Host total'], one['Device self'], one['Device total'], one['Tensor Core time'], one['Tensor Core eligible']]))
      .toEqual(made().operators.operators.map((one: any) => [one.name, 2, one.host_self_ns, one.host_total_ns, one.device_self_ns, one.device_total_ns, one.device_tensor_core_ns, 'yes']));
    expect(rows[0]).not.toHaveProperty('Input shapes');
    expect(await figureOf(page, 'Device time of no operator')).toBe(4321);
  });

  it('show shapes where they were recorded', async () => {
    const { page } = await open(made(true));
    expect((await rowsOf(tableOf(page, 'Operators')))[0]!['Input shapes']).toBe('[[0, 3]]');
  });

  it('are drawn by the metric of the address, the ten largest and the rest', async () => {
    const { page } = await open(made(), `${HASH}?pie=host_self_ns`);
    const drawn = page.locator('.canvas svg');
    expect(await drawn.innerHTML()).toContain('5 others');
    expect(await page.getByRole('heading', { name: 'Host self time' }).count()).toBe(1);
    await page.getByRole('radio', { name: 'Host self' }).press('ArrowRight');
    await expect.poll(() => page.url()).toContain('pie=host_total_ns');
    await expect.poll(() => page.locator('main').innerText()).toContain('these parts overlap');
  });

  it('are said to be missing with what would record them', async () => {
    const { page } = await open(analysisOf('known_path'));
    expect(await page.locator('main').innerText()).toContain('No operators were recorded');
  });

  it.each(badAnalyses(made(true)))('survive an analysis %s', async (_, analysis) => expectShown(await open(analysis)));
});
