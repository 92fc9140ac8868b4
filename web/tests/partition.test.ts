// Partition: blocks, borders and costs as in the file, in the graph and in the tables.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crossingsOf, modelOf } from '../src/pages/partition/model';
import { Viewer } from './browser';
import { withDamage, withHostileNames } from './hostile';
import { expectShown, figureOf, rowsOf, tableOf } from './views';

const here = dirname(fileURLToPath(import.meta.url));
const recorded = (): any => JSON.parse(readFileSync(join(here, 'data/partition-digits.json'), 'utf8'));
const documentOf = (partition: unknown) => ({
  schema: 'hone.report', version: 1, generated: '', hone: '', sweeps: [], profiles: [], diffs: [], problems: [],
  partitions: [{ id: 'p', path: 'p.json', partition }],
});

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());
const open = (partition: unknown, hash = '#/partition/p') => viewer.open(documentOf(partition), hash);

describe('the model of a partition', () => {
  it('adds up what crosses between two blocks, the caller left out', () => {
    const value = (bytes: number) => ({ name: 'v', type: 'float32[4]', bytes });
    const border = (from: number, to: number, bytes: number) => ({ value: value(bytes), from, to, copies: 1, synchronisations: 0, time_ms: 0.5 });
    const { borders } = modelOf({ blocks: [{}, {}], borders: [border(-1, 0, 9), border(0, 1, 4), border(0, 1, 8), border(1, -1, 9)] });
    expect(crossingsOf(borders)).toEqual([{ from: 0, to: 1, values: 2, bytes: 12, time_ms: 1 }]);
  });

  it('follows no border backwards', () => {
    const value = { name: 'v', type: '', bytes: 1 };
    const { blocks } = modelOf({ blocks: [{}, {}], borders: [{ value, from: 1, to: 0 }, { value, from: 0, to: 1 }, { value, from: 7, to: 1 }] });
    expect(blocks.map(({ reads }) => reads)).toEqual([[], [0]]);
  });
});

describe('a partition', () => {
  it('has the figures of the file', async () => {
    const record = recorded();
    const { page } = await open(record);
    expect(await figureOf(page, 'Predicted')).toBe(record.predicted_ms);
    expect(await figureOf(page, 'Measured')).toBe(record.measured_ms);
    expect(await figureOf(page, 'No partition below')).toBe(record.bound_ms);
    const rows = await rowsOf(tableOf(page, 'Ways to run it'));
    expect(rows.map((row) => row['Blocks'])).toEqual(record.plans.map((plan: any) => plan.blocks));
    expect(rows.filter((row) => String(row['Plan']).includes('(chosen)')).length).toBe(1);
  });

  it('shows each block and what its borders cost', async () => {
    const record = recorded();
    const { page } = await open(record);
    const boxes = page.locator('.graph g.box');
    expect(await boxes.count()).toBe(record.blocks.length);
    expect(await page.locator('.graph path.border').count()).toBeGreaterThan(0);
    const label = await boxes.nth(1).getAttribute('aria-label');
    expect(label).toContain(`block 1 · ${record.blocks[1].backend}`);
    expect(label).toContain('from block 0 to block 1: 1 value');
    const rows = await rowsOf(tableOf(page, 'Borders'));
    expect(rows.map((row) => row['Bytes'])).toEqual(record.borders.map((border: any) => border.value.bytes));
  });

  it('shows the nodes of a block that is chosen by keyboard, and the reasons of a backend', async () => {
    const record = recorded();
    const { page } = await open(record);
    await page.locator('.graph g.box').nth(1).press('Enter');
    await expect.poll(() => page.url()).toContain('block=1');
    const rows = await rowsOf(tableOf(page, 'Nodes'));
    expect(rows.length).toBe(record.blocks[1].nodes.length);
    expect(rows[0]!['Not on hone']).toBe('excluded by --exclude');
  });

  it('is drawn node by node', async () => {
    const record = recorded();
    const { page } = await open(record, '#/partition/p?form=nodes');
    expect(await page.locator('.graph g.box').count()).toBe(record.nodes.length);
  });

  it('stands in the navigation and on the start page', async () => {
    const { page } = await open(recorded(), '#/');
    await page.getByRole('main').getByRole('link', { name: /p\.json/ }).click();
    await page.getByRole('heading', { name: 'Partition', exact: true }).waitFor();
    expect(await page.locator('nav [aria-current=page]').innerText()).toBe('p');
  });

  it.each<[string, unknown]>([
    ['without anything', {}], ['with texts', { blocks: 'x', nodes: 'x', borders: 'x', plans: 'x', backends: 'x' }],
    ['with hostile names', withHostileNames(recorded())],
    ...[1, 2, 3, 4].map((seed): [string, unknown] => [`with damage ${seed}`, withDamage({ a: { b: { c: recorded() } } }, seed).a.b.c]),
  ])('survives a file %s', async (_, record) => expectShown(await open(record)));
});
