// Differences: bars add up, figures are those of the document, noise is called noise, and no document breaks them.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barsOf, gapOf, inRunOrder, matchesOf, sumsOf } from '../src/pages/diff/model';
import { Viewer, type Opened } from './browser';
import { withDamage, withHostileNames } from './hostile';
import { NOTHINGS, numbers, profile, readTable, reportOf, settle, time } from './answers';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());
const quiet = ({ errors, requests }: Opened) => expect({ errors, requests }).toEqual({ errors: [], requests: [] });

const real = () => JSON.parse(readFileSync(new URL('data/diff-resnet18-torch-hone.json', import.meta.url), 'utf8'));
const estimate = (mean_ns: number, half_width_ns: number) => ({ mean_ns, half_width_ns });
const match = (a: string[], b: string[], change_ns: number) =>
  ({ a, b, kernels_a: ['ka'], kernels_b: ['kb1', 'kb2'], time_a: estimate(500, 10), time_b: estimate(500 + change_ns, 10), change_ns, certain: Math.abs(change_ns) > 20, reasons: [] });
const small = {
  iteration_a: estimate(1000, 50), iteration_b: estimate(700, 40), speedup: 1000 / 700, speedup_interval: [1.3, 1.6], speedup_undisturbed: true, notes: ['a note of the comparison'],
  trend_a_ns: { slope: 12, low: 3, high: 20, certain: true }, trend_b_ns: null,
  waterfall: [{ name: 'layers', change_ns: -350 }, { name: 'outside of layers', change_ns: 50 }],
  layers: [match(['second'], ['y'], -340), match(['first'], ['x'], -10)],
};
const step = (at: number, ns: number) => ({ name: 's', start_ns: at, end_ns: at + ns, host_start_ns: at, host_end_ns: at + ns, costs: {} });
const analysis = { layers: { layers: [{ name: 'first', time: time(500) }, { name: 'second', time: time(500) }] }, steps: { steps: [step(0, 990), step(1000, 1000), step(2100, 1015)] } };
const report = (diff: unknown) => reportOf([profile(analysis, 'a'), profile(analysis, 'b')], [{ a: 'a', b: 'b', diff }]);

describe('the model of a difference', () => {
  it('adds up from A to B', () => {
    const bars = barsOf(small as never);
    expect(bars.map(({ from, to }) => [from, to])).toEqual([[0, 1000], [1000, 650], [650, 700], [0, 700]]);
    expect(gapOf(bars)).toBe(0);
    expect(gapOf(barsOf({ ...small, iteration_b: estimate(600, 1) } as never))).toBe(-100);
  });
  it('has no bars where one side has no time', () => {
    expect(barsOf({ ...small, iteration_a: estimate(0, 0), waterfall: [] } as never)).toEqual([]);
    expect(barsOf({ ...small, iteration_b: {}, waterfall: [] } as never)).toEqual([]);
  });
  it('adds up in a real comparison', () => expect(gapOf(barsOf(real()))).toBe(0));
  it('follows the order in which A runs', () => {
    const sums = sumsOf(inRunOrder(matchesOf(small as never), profile(analysis) as never, null));
    expect(sums.map(({ match: { a }, sum }) => [a[0], sum])).toEqual([['first', -10], ['second', -350]]);
  });
});

describe('Difference', () => {
  it('shows the figures of the document', async () => {
    const diff = real();
    const opened = await viewer.open(report(diff), '#/diff/0/layers');
    const table = await readTable(opened.page, 'Matched layers');
    const of = (pick: (one: any) => unknown) => diff.layers.map(pick);
    expect(numbers(table.column('Change'))).toEqual(of((one) => one.change_ns));
    expect(numbers(table.column('Time in A'))).toEqual(of((one) => one.time_a.mean_ns));
    expect(numbers(table.column('Time in B'))).toEqual(of((one) => one.time_b.mean_ns));
    expect(table.column('Certainty')).toEqual(of((one) => (one.certain ? 'certain' : 'noise')));
    const heads = await opened.page.locator('.side [data-value]').evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset['value'])));
    expect(heads).toEqual([diff.iteration_a.mean_ns, diff.iteration_b.mean_ns, diff.speedup]);
    quiet(opened);
  });

  it('shows the bars and the running sum as tables too', async () => {
    const { page } = await viewer.open(report(small), '#/diff/0');
    for (const button of await page.getByRole('button', { name: 'As table' }).all()) await button.click();
    await expect.poll(async () => (await readTable(page, 'From A to B')).column('Iteration then')).toEqual(['1000', '650', '700', '700']);
    await expect.poll(async () => (await readTable(page, 'Difference, layer by layer')).column('Until here')).toEqual(['-10', '-350']);
    await expect.poll(() => page.locator('main').innerText()).toContain('a note of the comparison');
  });

  it('opens a match with the kernels of both, by key', async () => {
    const { page } = await viewer.open(report(small), '#/diff/0/layers');
    await page.locator('table tbody tr').first().press('Enter');
    await expect.poll(() => page.locator('.drawer').innerText()).toMatch(/ka[\s\S]*kb1\s*kb2/);
    expect(await page.locator('.drawer a').first().getAttribute('href')).toBe('#/profile/a/layers?sel=1');
    await page.keyboard.press('Escape');
    await page.locator('.drawer').waitFor({ state: 'detached' });
  });

  it('calls no difference what overlaps', async () => {
    const { page } = await viewer.open(report({ ...small, iteration_b: estimate(950, 30), speedup_interval: [0.97, 1.1] }), '#/diff/0');
    expect(await page.locator('.verdict-large').innerText()).toBe('no difference');
    expect(await page.locator('main').innerText()).toContain('The bars do not add up');
  });

  it('shows which kernels took the place of others', async () => {
    const kernels = [{ a: ['relu', 'conv'], b: ['fused'], layers: 3, time_a_ns: 900, time_b_ns: 400, change_ns: -500 }, { a: [], b: ['pad'], layers: 1, time_a_ns: 0, time_b_ns: 10, change_ns: 10 }];
    const opened = await viewer.open(report({ ...small, kernels: [...kernels, null] }), '#/diff/0/kernels');
    const table = await readTable(opened.page, 'Other kernels');
    expect(numbers(table.column('Change'))).toEqual([-500, 10]);
    expect(table.column('Kernels of A')).toEqual(['relu\nconv', 'nothing']);
    expect(numbers(table.column('Time in B'))).toEqual([400, 10]);
    quiet(opened);
    const none = await viewer.open(report(small), '#/diff/0/kernels');
    expect(await none.page.locator('main').innerText()).toContain('No other kernels');
  });

  it('draws iterations and says which side drifts', async () => {
    const opened = await viewer.open(report(small), '#/diff/0/iterations');
    expect(await opened.page.locator('main').innerText()).toMatch(/drifts[\s\S]*too few iterations/);
    await opened.page.getByRole('button', { name: 'As table' }).click();
    await expect.poll(async () => (await readTable(opened.page, 'Time of iterations')).column('Time')).toEqual(['990', '1000', '1015', '990', '1000', '1015']);
    quiet(opened);
  });

  it.each([[1280, false], [390, true]])('fits %s px', async (width, dark) => {
    const { page } = await viewer.open(report(real()), '#/diff/0', { width, dark });
    await page.waitForSelector('.canvas svg');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });

  it.each([[[], 'Nothing to compare'], [[{ a: 'a', b: 'b', diff: small }], 'No such comparison']])('says so where there is nothing', async (diffs, sentence) => {
    const opened = await viewer.open(reportOf([], diffs), '#/diff/7');
    expect(await opened.page.locator('main').innerText()).toContain(sentence);
    quiet(opened);
  });

  it('says how many pairs were left out', async () => {
    const few = await viewer.open(report(real()), '#/diff/0');
    expect(await few.page.locator('header.nav').innerText()).not.toContain('pairs');
    const many = await viewer.open({ ...report(real()), diffs_left_out: 5 }, '#/diff/0');
    expect(await many.page.locator('header.nav').textContent()).toContain('1 of 6 pairs, those of hone with another first');
    quiet(many);
  });
});

describe('bad differences', () => {
  async function visit(document: unknown): Promise<void> {
    const opened = await viewer.open(document, '#/diff/0?sel=0');
    for (const view of ['layers', 'iterations', 'x']) {
      await settle(opened.page);
      expect(await opened.page.getByText('This part cannot be shown').count()).toBe(0);
      await opened.page.evaluate((to) => { location.hash = `#/diff/0/${to}?sel=1`; }, view);
    }
    await settle(opened.page);
    expect(await opened.page.evaluate(() => (window as any).harmed)).toBeUndefined();
    quiet(opened);
  }

  it.each(NOTHINGS)('%s', (_, diff) => visit(report(diff)));
  it('without its profiles', () => visit(reportOf([], [{ a: 'gone', b: 'too', diff: real() }])));
  it('with hostile names', () => visit(withHostileNames(report(real()))));
  it.each([1, 2, 3, 4])('with damage %s', (seed) => visit(report(withDamage(real(), seed, 8, undefined, 4))));
});
