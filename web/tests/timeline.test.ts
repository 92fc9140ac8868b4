// The timeline in a browser: it can be taken along, and links lead to events.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Viewer, type Opened } from './browser';
import { documentIn, Runs } from './program';

const HASH = '#/profile/resnet50-hone-fp16-b1/timeline';

let viewer: Viewer;
let runs: Runs;
let page: string;
beforeAll(async () => {
  viewer = await Viewer.start();
  runs = new Runs();
  runs.addRecorded();
  page = runs.report();
}, 120_000);
afterAll(async () => {
  await viewer.stop();
  runs.remove();
});

async function saved({ page }: Opened, kind: string): Promise<{ name: string; bytes: Buffer }> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: kind }).click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

describe('the timeline', () => {
  it('can be taken along as CSV and as a picture', async () => {
    const opened = await viewer.open(page, HASH);
    const csv = await saved(opened, 'CSV');
    expect(csv.name).toBe('Timeline.csv');
    const lines = csv.bytes.toString().trim().split('\n');
    expect(lines[0]).toBe('Group,Track,Row,Name,Start (ns),Duration (ns),Stands for (events),Value,Unit');
    const { tracks } = documentIn(page).profiles.find(({ id }: any) => id === 'resnet50-hone-fp16-b1').timeline;
    const events = tracks.reduce((sum: number, { count }: any) => sum + count, 0);
    expect(lines.length - 1).toBe(events);
    const png = await saved(opened, 'PNG');
    expect(png.name).toBe('Timeline.png');
    expect([...png.bytes.subarray(1, 4)].map((code) => String.fromCharCode(code)).join('')).toBe('PNG');
    expect(opened.errors).toEqual([]);
  });

  it('keeps the selected event in the address, and finds it again', async () => {
    const opened = await viewer.open(page, HASH);
    await opened.page.locator('.tl canvas').press('Tab');
    await expect.poll(() => opened.page.url()).toMatch(/event=\d+\.\d+\.\d+/);
    const name = await opened.page.locator('.tl-panel h3').innerText();
    await opened.page.reload();
    await expect.poll(() => opened.page.locator('.tl-panel h3').innerText()).toBe(name);
  });
});
