/** Reads a request's body as JSON, within a limit, without trusting anything about it. */
import { parse } from 'secure-json-parse';
import type { BodyRefusal } from '../../contract/shared-refusals.ts';

/** Deeper than any real body, and far from where a recursive walk would fail. */
const DEPTH_MAX = 32;

type JsonBody = { value: unknown; text: string } | { refusal: BodyRefusal; bytes: number };

/** The value with its exact text, or why the body is refused (contract: Limits, Request body). */
export async function readJsonBody(request: Request, limitBytes: number): Promise<JsonBody> {
  const invalid = (problem: string, bytes: number): JsonBody => ({
    refusal: { code: 'invalid_body', problem },
    bytes,
  });
  const encoding = request.headers.get('content-encoding');
  if (encoding && encoding !== 'identity') return invalid('body: must not be compressed', 0);
  const bytes = await readBytes(request, limitBytes);
  if (!bytes) return { refusal: { code: 'body_too_large', limitBytes }, bytes: limitBytes + 1 };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Refuses __proto__ and constructor.prototype: with them a field could be smuggled past its check.
    const value: unknown = parse(text);
    if (deeperThan(value, DEPTH_MAX))
      return invalid(`body: must not be nested deeper than ${DEPTH_MAX}`, bytes.length);
    return { value, text };
  } catch {
    return invalid('body: must be valid JSON without __proto__ or constructor keys', bytes.length);
  }
}

/** Undefined as soon as the body is longer than the limit, whatever its length was said to be. */
async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array | undefined> {
  const stated = request.headers.get('content-length');
  if (stated !== null) {
    if (!(Number(stated) <= limitBytes)) return undefined;
    const bytes = new Uint8Array(await request.arrayBuffer());
    return bytes.length <= limitBytes ? bytes : undefined;
  }
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.length;
    if (length > limitBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function deeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((inner) => deeperThan(inner, depth - 1));
}
