// Hands the reader a file made in the page, and text as CSV.
import { clean } from '../text';

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name.replace(/[^\w.-]+/g, '-').slice(0, 120);
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/// Text that a spreadsheet would take for a formula is given a quote in front.
function cell(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const text = clean(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(head: string[], rows: unknown[][]): string {
  return [head, ...rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';
}

export const downloadCsv = (name: string, head: string[], rows: unknown[][]): void =>
  download(`${name}.csv`, new Blob([csvOf(head, rows)], { type: 'text/csv' }));
