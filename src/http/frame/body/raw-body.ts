/** Reads a request's body as the bytes that came, within a limit: what a signature is checked over. */
import type { BodyRefusal } from '../../../contract/shared-refusals.ts';

/** Longer than any list of codings that exists. */
const CODING_SHOWN = 40;

type RawBody = { bytes: Uint8Array } | { refusal: BodyRefusal; length: number };

/** The bytes, or why the body is refused: it is too long, or compressed. `length`: as far as it is known. */
export async function readRawBody(request: Request, limitBytes: number): Promise<RawBody> {
  const coding = request.headers.get('content-encoding')?.trim();
  if (coding && coding.toLowerCase() !== 'identity')
    return { refusal: { code: 'unsupported_encoding', coding: coding.slice(0, CODING_SHOWN) }, length: 0 };
  const stated = request.headers.get('content-length');
  if (stated === null) return readUnstated(request, limitBytes);
  if (!(Number(stated) <= limitBytes)) return tooLarge(Number(stated), limitBytes);
  const bytes = new Uint8Array(await request.arrayBuffer());
  return bytes.length <= limitBytes ? { bytes } : tooLarge(bytes.length, limitBytes);
}

/** `length`, of a body that is longer than the limit, whatever its length was said to be: as far as it is known. */
const tooLarge = (length: number, limitBytes: number): RawBody => ({
  refusal: { code: 'body_too_large', limitBytes, bytes: length },
  length,
});

/** A body whose length was not said: until its end, or until it is longer than the limit. */
async function readUnstated(request: Request, limitBytes: number): Promise<RawBody> {
  if (!request.body) return { bytes: new Uint8Array() };
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.length;
    if (length > limitBytes) return tooLarge(length, limitBytes);
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks) };
}
