/** The bytes of a request's body, up to a limit. */

/** Events of payment processors have tens of KB at most. */
export const BODY_MAX_BYTES = 512 * 1024;

/** Undefined when the body is longer than the limit; the rest of it is not read. */
export async function readBody(request: Request, maxBytes = BODY_MAX_BYTES): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return undefined;
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
