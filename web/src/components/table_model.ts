// The content of a table: its columns, and its rows in order and as far as they match.
import type { ComponentChildren } from 'preact';
import { describe, hintOf, titleOf, type FieldRef } from '../data/fields';
import { clean } from '../text';

export interface Column<Row> {
  key: string;
  /// Unit, definition and origin come from here; `title`, `unit` and `hint` are said where it is not enough.
  of?: FieldRef;
  title?: string;
  unit?: string;
  hint?: string;
  /// The value that is sorted, searched and exported.
  value: (row: Row) => unknown;
  /// Drawn instead of the value.
  show?: (row: Row) => ComponentChildren;
  /// A bar under the number: a share of 1, else of the largest value.
  bar?: boolean;
  /// Name of code: drawn in a fixed-width face.
  code?: boolean;
}

export interface Sort {
  key: string;
  descending: boolean;
}

export const unitOf = (column: Column<any>): string => column.unit ?? describe(column.of).unit;
export const headOf = (column: Column<any>): string => column.title ?? (column.of ? titleOf(column.of) : column.key);
export const hintFor = (column: Column<any>): string => [column.hint, hintOf(column.of)].filter(Boolean).join(' ');

export function isNumeric<Row>(column: Column<Row>, rows: Row[]): boolean {
  if (unitOf(column)) return true;
  const known = rows.slice(0, 50).map(column.value).filter((value) => value !== null && value !== undefined);
  return known.length > 0 && known.every((value) => typeof value === 'number');
}

/// Headings as in the file: the unit of a raw value follows its name.
export function csvHead(columns: Column<any>[]): string[] {
  return columns.map((column) => {
    const unit = unitOf(column);
    return unit && unit !== 'count' ? `${headOf(column)} (${unit})` : headOf(column);
  });
}

const missing = (value: unknown) =>
  value === null || value === undefined || value === '' || (typeof value === 'number' && !Number.isFinite(value));

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return clean(a).localeCompare(clean(b), 'en', { numeric: true });
}

/// Keeps the order of equals; what is missing comes last either way.
export function sorted<Row>(rows: Row[], column: Column<Row> | undefined, descending: boolean): Row[] {
  if (!column) return rows;
  const keyed = rows.map((row) => ({ row, value: column.value(row) }));
  keyed.sort((a, b) => {
    const gaps = Number(missing(a.value)) - Number(missing(b.value));
    if (gaps || missing(a.value)) return gaps;
    return descending ? compare(b.value, a.value) : compare(a.value, b.value);
  });
  return keyed.map(({ row }) => row);
}

/// Rows in which every word is found in some column.
export function matching<Row>(rows: Row[], columns: Column<Row>[], search: string): Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  return rows.filter((row) => {
    const text = columns.map((column) => clean(column.value(row))).join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
