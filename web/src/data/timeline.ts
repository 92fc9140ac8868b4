// Columns of a timeline: typed views into one block of bytes, checked against its length.
import type { Columns, TimelineHeader } from './document';

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

export function columnsOf(header: TimelineHeader, bytes: ArrayBuffer, base = 0): Columns {
  const columns: Columns = Object.create(null);
  for (const { name, type, offset, count } of header.columns) {
    const Type = Object.hasOwn(TYPES, type) ? TYPES[type as keyof typeof TYPES] : undefined;
    if (!Type) throw new Error(`The timeline has a column of the unknown type ${type}.`);
    columns[name] = new Type(bytes, base + offset, count);
  }
  return columns;
}

export async function inflate(base64: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(base64.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}
