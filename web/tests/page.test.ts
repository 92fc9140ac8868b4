// The page in a browser: it works, stays quiet, and survives what it is given.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer, type Opened } from './browser';
import { documentOf, sweepsUnder } from './document.mjs';
import { NAMES, withDamage, withHostileNames } from './hostile';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());

const quiet = ({ errors, requests }: Opened) => expect({ errors, requests }).toEqual({ errors: [], requests: [] });
const empty = { schema: 'hone.report', version: 1, generated: '', hone: '', sweeps: [], profiles: [], diffs: [], problems: [] };
const hashes = (report: any): string[] => [
  '#/', '#/nowhere', '#/compare', '#/compare/none', '#/compare?machine=all&sweep=all', '#/diff/0', '#/diff/x', '#/profile/none', '#/%E0%A4%A/%zz?x=%',
  ...new Set<string>(report.sweeps.flatMap((entry: any) => entry.sweep.runs.map((run: any) => `#/compare/${encodeURIComponent(run.model)}`))),
  ...report.profiles.flatMap(({ id }: any) => ['overview', 'layers', 'kernels', 'operators', 'timeline', 'dependencies', 'memory', 'transfers'].map((view) => `#/profile/${id}/${view}`)),
];

async function visitAll(opened: Opened, report: unknown): Promise<void> {
  for (const hash of hashes(report)) {
    await opened.page.evaluate((to) => { location.hash = to; }, hash);
    await opened.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20))));
    expect(await opened.page.locator('main').innerText(), hash).not.toBe('');
  }
}

describe('a real document', () => {
  it('opens on every page without errors and without a request', async () => {
    const opened = await viewer.open(documentOf());
    await visitAll(opened, documentOf());
    expect(await opened.page.getByText('This part cannot be shown').count()).toBe(0);
    quiet(opened);
  });

  it.each([[1280, false], [390, true]])('fits %s px', async (width, dark) => {
    const { page } = await viewer.open(documentOf(), '#/compare/resnet50', { width, dark });
    await page.waitForSelector('.canvas svg');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });

  it('says what could not be read', async () => {
    const { page } = await viewer.open(documentOf());
    await page.locator('.banner summary').click();
    await expect.poll(() => page.locator('.banner').innerText()).toContain('the file breaks off after 4096 bytes');
  });

  it('remembers the theme that was chosen', async () => {
    const { page } = await viewer.open(documentOf());
    await page.getByRole('button', { name: 'Use the dark theme' }).click();
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  });
});

describe('Compare', () => {
  const [entry] = sweepsUnder('h200').filter(({ path }) => path.includes('233159Z'));
  const only = { ...empty, sweeps: [entry] };

  it('shows the figures of the file', async () => {
    const { page } = await viewer.open(only, '#/compare/resnet50');
    const table = page.locator('table').filter({ hasText: 'Throughput' });
    const heads = (await table.locator('thead th').allInnerTexts()).map((head) => head.replace(/[●○◇▪↑↓\s]+$/, '').trim());
    const errors = await table.locator(`tbody td:nth-child(${heads.indexOf('Error (relative L2)') + 1})`).allInnerTexts();
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.join(' ')).not.toContain('×');
    const rows = await table.locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).dataset['value'] ?? (cell as HTMLElement).innerText)));
    expect(rows).toHaveLength(entry!.sweep.runs.length);
    for (const run of entry!.sweep.runs) {
      const row = rows.find((cells) => cells[0] === `${run.backend} ${run.precision}` && Number(cells[heads.indexOf('Batch')]) === run.batch)!;
      const cell = (name: string) => Number(row[heads.indexOf(name)]);
      expect([cell('p50'), cell('Throughput'), cell('Samples')]).toEqual([run.latency_ms.p50, run.throughput_per_s, run.latency_ms.n]);
    }
  });

  it('keeps the intervals of speedups, and turns them around for another baseline', async () => {
    const { page } = await viewer.open(only, '#/compare/resnet50');
    const { ratio, interval } = entry!.sweep.runs.find((run: any) => run.backend === 'hone' && run.batch === 8).speedup;
    const row = (name: string) => page.locator('table').filter({ hasText: 'baseline' }).locator('tbody tr').filter({ hasText: name }).first();
    expect(await row('hone fp16').innerText()).toContain(`${interval[0].toFixed(2)}–${interval[1].toFixed(1)}×`);
    await page.getByLabel('Baseline').selectOption('hone fp16');
    await expect.poll(async () => Number(await row('torch fp16').locator('td').nth(2).getAttribute('data-value'))).toBeCloseTo(1 / ratio, 12);
    await expect.poll(() => page.url()).toContain('baseline=hone+fp16');
  });

  it('has intervals for any two that the program compared', async () => {
    const system = (backend: string) => ({ backend, precision: 'fp16' });
    const { device, threads } = entry!.sweep.runs[0];
    const pair = { model: 'resnet50', ...system('torch-graph'), batch: 8, device, threads, includes_transfers: false, cold_l2: false,
      speedup: { over: system('torchscript'), ratio: 2.5, interval: [2.25, 2.75], differs: true, interleaved: true } };
    const { page } = await viewer.open({ ...only, sweeps: [{ ...entry, pairs: [pair, null, { speedup: 1 }] }] }, '#/compare/resnet50?baseline=torch-graph+fp16');
    const row = page.locator('table').filter({ hasText: 'baseline' }).locator('tbody tr').filter({ hasText: 'torchscript fp16' }).first();
    expect(await row.locator('td').nth(2).innerText()).toContain('0.364–0.444×');
    expect(await row.locator('td').nth(1).innerText()).toContain('no interval');
  });

  it('shows failures and their reasons', async () => {
    const failing = sweepsUnder('xeon-torch-2-cores');
    const { page } = await viewer.open({ ...empty, sweeps: failing }, '#/compare/resnet50');
    expect(await page.locator('main').innerText()).toContain("the worker gave no answer to 'load' within 120 s and was ended");
  });

  it('says so when lines of several machines stand together', async () => {
    const { page } = await viewer.open(documentOf(), '#/compare/resnet50?machine=all');
    expect(await page.locator('main').innerText()).toContain('Compare only lines of the same letter');
  });

  it('sorts, selects and walks by keyboard', async () => {
    const { page } = await viewer.open(only, '#/compare/resnet50');
    const table = page.locator('table').filter({ hasText: 'Throughput' });
    await table.getByRole('button', { name: /^p50/ }).press('Enter');
    await expect.poll(() => table.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    await table.locator('tbody tr').first().press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => table.locator('tr[aria-selected=true]').getAttribute('data-index')).toBe('1');
    await expect.poll(() => page.url()).toContain('sel=');
    await page.locator('.canvas').first().press('ArrowRight');
    await expect.poll(() => page.locator('.chart [aria-live]').first().innerText()).toContain('hone fp16');
  });
});

describe('a bad document', () => {
  it.each([
    ['none', (page: string) => page.replace(/<script type="application\/json".*?<\/script>/s, ''), 'holds no document'],
    ['damaged', (page: string) => page.replace('{"schema"', '{schema'), 'is damaged'],
    ['of another kind', (page: string) => page.replace('hone.report"', 'other"'), 'not a report of hone'],
    ['of the future', (page: string) => page.replace('"version":1', '"version":2'), 'version 1, not 2'],
  ])('%s is said in a sentence', async (_, spoil, sentence) => {
    const { pageWith } = await import('./document.mjs');
    const opened = await viewer.open(spoil(pageWith(empty)));
    expect(await opened.page.locator('main').innerText()).toContain(sentence);
    quiet(opened);
  });

  it('that is empty says what belongs in it', async () => {
    const opened = await viewer.open(empty);
    expect(await opened.page.locator('main').innerText()).toContain('Nothing was found');
    quiet(opened);
  });

  it('that is hostile does no harm', async () => {
    const report = withHostileNames(documentOf());
    const opened = await viewer.open(report);
    await visitAll(opened, report);
    expect(await opened.page.evaluate(() => (window as any).harmed)).toBeUndefined();
    expect(await opened.page.locator('main script, main img, main [onload]').count()).toBe(0);
    quiet(opened);
  });

  it('whose every name is __proto__ changes no other object', async () => {
    const report = withHostileNames(documentOf(), () => NAMES.indexOf('__proto__'));
    const opened = await viewer.open(report);
    await visitAll(opened, report);
    expect(await opened.page.evaluate(() => { const keys = []; for (const key in {}) keys.push(key); return keys; })).toEqual([]);
    quiet(opened);
  });

  it.each([1, 2, 3])('with damage %s still opens everywhere', async (seed) => {
    const report = withDamage(documentOf(), seed);
    const opened = await viewer.open(report);
    await visitAll(opened, documentOf());
    expect(opened.requests).toEqual([]);
    expect(opened.errors).toEqual([]);
  });
});
