// Pages that the program makes of real data, in a browser; and the page that it serves.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer, type Opened } from './browser';
import { documentIn, results, Runs } from './program';

const VIEWS = ['overview', 'layers', 'kernels', 'operators', 'timeline', 'dependencies', 'memory', 'transfers'];

let viewer: Viewer;
let runs: Runs;
beforeAll(async () => {
  viewer = await Viewer.start();
  runs = new Runs();
  runs.addRecorded();
  runs.addProfile();
}, 120_000);
afterAll(async () => {
  await viewer.stop();
  runs.remove();
});

async function show({ page }: Opened, hash: string): Promise<string> {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))));
  return page.locator('main').innerText();
}

describe('hone report', () => {
  it('shows every page of every profile without a complaint', async () => {
    const text = runs.report(join(results, 'xeon-2-cores'));
    const report = documentIn(text);
    expect(report.profiles.length).toBe(7);
    const opened = await viewer.open(text);
    for (const { id } of report.profiles) {
      for (const view of VIEWS) expect(await show(opened, `#/profile/${id}/${view}`), `${id} ${view}`).not.toContain('cannot be shown');
    }
    for (let i = 0; i < report.diffs.length; ++i) expect(await show(opened, `#/diff/${i}`)).not.toContain('cannot be shown');
    expect(opened.errors).toEqual([]);
    expect(opened.requests).toEqual([]);
  }, 180_000);
});

describe('hone view', () => {
  it('serves the same page, and ends with Ctrl-C', async () => {
    const server = await runs.view();
    const opened = await viewer.visit(server.url);
    await opened.page.waitForSelector('text=resnet50 torch fp16 batch 1');
    for (const view of VIEWS) expect(await show(opened, `#/profile/resnet50-hone-fp16-b1/${view}`), view).not.toContain('cannot be shown');
    expect(opened.errors).toEqual([]);
    expect(opened.requests.every((one) => one.startsWith(server.url))).toBe(true);
    expect(await server.stop()).toBe(0);
  }, 120_000);
});
