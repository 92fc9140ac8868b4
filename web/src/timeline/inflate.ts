// From the base64 text embedded in a report to the inflated bytes of its columns.

const kPiece = 1 << 20;  // base64 characters decoded at a time: a multiple of 4

interface NativeBase64 {
  fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}

function decodePiece(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as NativeBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function pieces(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= text.length) return controller.close();
      controller.enqueue(decodePiece(text.slice(at, at + kPiece)));
      at += kPiece;
    },
  });
}

/** Decodes base64 and inflates what it holds (zlib). Throws an Error with one sentence when the text is damaged. */
export async function inflateBase64(text: string): Promise<ArrayBuffer> {
  const clean = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  if (clean === '') return new ArrayBuffer(0);
  try {
    const inflated = pieces(clean).pipeThrough(new DecompressionStream('deflate'));
    return await new Response(inflated).arrayBuffer();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The timeline's data cannot be unpacked: ${why}`);
  }
}
