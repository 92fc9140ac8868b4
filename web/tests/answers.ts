// Documents of one profile for tests of its views, and how their tables are read.
import type { Page } from 'playwright-core';

const EMPTY = { schema: 'hone.report', version: 1, generated: '', hone: '', sweeps: [], profiles: [] as unknown[], diffs: [] as unknown[], problems: [] };

export const reportOf = (profiles: unknown[], diffs: unknown[] = []) => ({ ...EMPTY, profiles, diffs });
export const profile = (analysis: unknown, id = 'p', more: object = {}) => ({ id, name: `profile ${id}`, path: `${id}.sqlite`, metadata: {}, analysis, timeline: null, ready: true, ...more });

export const time = (ns: number) => ({
  n: 5, mean_ns: ns, sd_ns: ns / 20, min_ns: ns * 0.9, max_ns: ns * 1.2, p25_ns: ns * 0.95, median_ns: ns * 0.99, p75_ns: ns * 1.1, median_low_ns: ns * 0.9, median_high_ns: ns * 1.2,
});

/// Analyses of nothing, in several forms.
export const NOTHINGS: [string, unknown][] = [
  ['null', null], ['text', 'no'], ['a list', [1, null]], ['empty', {}],
  ['of wrong types', { layers: 7, threads: [], layer_sum: 'x', notes: { a: 1 }, critical_path: { segments: { columns: 3, rows: [1, [null], [5, 1]], left_out: 'x' }, functions: [null, 4, {}] }, what_if: { wall_ns: 'x', changes: [{}] }, devices: [null, { causes: 'x' }] }],
];

export interface Read {
  heads: string[];
  /// Raw numbers where a cell holds one, else its text.
  rows: string[][];
  /// Cells under a heading.
  column: (head: string) => string[];
}

export async function readTable(page: Page, caption: string): Promise<Read> {
  const table = page.locator('table', { has: page.locator('caption', { hasText: new RegExp(`^${caption}$`) }) });
  const heads = (await table.locator('thead th').allInnerTexts()).map((head) => head.replace(/[●○◇▪↑↓\s]+$/, '').trim());
  const rows = await table.locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).dataset['value'] ?? (cell as HTMLElement).innerText)));
  return { heads, rows, column: (head) => rows.map((row) => row[heads.indexOf(head)]!) };
}

export const numbers = (cells: string[]): number[] => cells.map(Number);
export const settle = (page: Page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 40))));
