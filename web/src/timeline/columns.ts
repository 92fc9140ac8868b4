// Typed views of the columns in a blob; every offset and count is checked before it is used.

import type { ColumnHeader, ColumnType, TimelineHeader } from './header';

export type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

const kTypes: Record<ColumnType, { bytes: number; view: (b: ArrayBuffer, o: number, n: number) => Column }> = {
  u8: { bytes: 1, view: (b, o, n) => new Uint8Array(b, o, n) },
  u16: { bytes: 2, view: (b, o, n) => new Uint16Array(b, o, n) },
  u32: { bytes: 4, view: (b, o, n) => new Uint32Array(b, o, n) },
  i32: { bytes: 4, view: (b, o, n) => new Int32Array(b, o, n) },
  f32: { bytes: 4, view: (b, o, n) => new Float32Array(b, o, n) },
  f64: { bytes: 8, view: (b, o, n) => new Float64Array(b, o, n) },
};

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function viewOf(column: ColumnHeader, blob: ArrayBuffer): Column {
  const type = Object.hasOwn(kTypes, column.type) ? kTypes[column.type] : undefined;
  if (!type) throw new Error(`Column "${column.name}" of the timeline has the unknown type "${column.type}".`);
  if (!isIndex(column.offset) || !isIndex(column.count)) {
    throw new Error(`Column "${column.name}" of the timeline has no valid offset and count.`);
  }
  const end = column.offset + column.count * type.bytes;
  if (end > blob.byteLength) {
    throw new Error(`Column "${column.name}" of the timeline ends at byte ${end}, but there are ${blob.byteLength}.`);
  }
  if (column.offset % type.bytes === 0) return type.view(blob, column.offset, column.count);
  return type.view(blob.slice(column.offset, end), 0, column.count);
}

/** All columns by name. Throws an Error with one sentence when one lies outside the blob. */
export function readColumns(header: TimelineHeader, blob: ArrayBuffer): Map<string, Column> {
  const columns = new Map<string, Column>();
  for (const column of header.columns ?? []) columns.set(column.name, viewOf(column, blob));
  return columns;
}

/** Columns that must have as many values as `lead`; a missing one that may be missing is all zeros. */
export class ColumnSet {
  readonly count: number;

  constructor(private readonly columns: Map<string, Column>, lead: string) {
    this.count = columns.get(lead)?.length ?? 0;
  }

  required(name: string): Column {
    const column = this.columns.get(name);
    if (!column) {
      if (this.count === 0) return new Uint8Array(0);
      throw new Error(`The timeline has no column "${name}".`);
    }
    return this.checked(name, column);
  }

  optional(name: string, zero: Column): Column {
    const column = this.columns.get(name);
    return column ? this.checked(name, column) : zero;
  }

  private checked(name: string, column: Column): Column {
    if (column.length === this.count) return column;
    throw new Error(`Column "${name}" of the timeline has ${column.length} values instead of ${this.count}.`);
  }
}
