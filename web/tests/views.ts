// Helpers of the tests of views: a document of one profile, and what its tables and figures say.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Opened } from './browser';
import { profileOf } from './document.mjs';
import { withDamage, withHostileNames } from './hostile';

export const analysisOf = (name: string): any => structuredClone(profileOf(name).analysis);

export function documentWith(analysis: unknown, more: Record<string, unknown> = {}) {
  const profile = { id: 'p', name: 'a profile', path: 'p.sqlite', metadata: {}, analysis, timeline: null, ready: true, ...more };
  return { schema: 'hone.report', version: 1, generated: '', hone: '', sweeps: [], profiles: [profile], diffs: [], problems: [] };
}

export const tableOf = (page: Page, caption: string): Locator => page.locator('table').filter({ has: page.locator('caption', { hasText: caption }) });

/// Raw numbers by heading, text where a cell has none.
export async function rowsOf(table: Locator): Promise<Record<string, number | string>[]> {
  return table.evaluate((element) => {
    const heads = [...element.querySelectorAll('thead th')].map((head) => head.textContent!.replace(/[●○◇▪↑↓\s]+$/, '').trim());
    const rows = [...element.querySelectorAll<HTMLTableRowElement>('tbody tr:not(.spacer)')];
    return rows.map((row) => Object.fromEntries([...row.cells].map((cell, i) =>
      [heads[i]!, cell.dataset['value'] === undefined ? cell.textContent! : Number(cell.dataset['value'])])));
  });
}

/// The raw number of the figure with this label.
export const figureOf = async (page: Page, label: string): Promise<number> =>
  Number(await page.locator('.labelled', { has: page.getByText(label, { exact: true }) }).locator('[data-value]').first().getAttribute('data-value'));

const SECTIONS = ['summary', 'steps', 'gpu', 'layers', 'idle', 'operators', 'transfers', 'memory', 'advice'];

/// Analyses that a view must survive: without parts, with parts of another type, with damage and markup.
export function badAnalyses(analysis: any): [string, unknown][] {
  const all = (part: unknown) => ({ ...analysis, ...Object.fromEntries(SECTIONS.map((section) => [section, part])) });
  return [
    ['without anything', {}], ['with nulls', all(null)], ['with texts', all('text')], ['with lists', all([1, null, 'x'])], ['with empty parts', all({})],
    ['with hostile names', withHostileNames(analysis)],
    ...[1, 2, 3, 4].map((seed): [string, unknown] => [`with damage ${seed}`, withDamage({ a: { b: { c: analysis } } }, seed).a.b.c]),
  ];
}

/// The view is there, drawn, quiet, and unharmed.
export async function expectShown({ page, errors, requests }: Opened): Promise<void> {
  await page.waitForSelector('h1');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20))));
  expect(await page.locator('main').innerText()).not.toContain('This part cannot be shown');
  expect({ errors, requests }).toEqual({ errors: [], requests: [] });
  expect(await page.evaluate(() => (window as any).harmed)).toBeUndefined();
  expect(await page.locator('main script, main img, main [onload]').count()).toBe(0);
}
