/** Reads a request's body as JSON, within a limit, without trusting anything about it. */
import { parse } from 'secure-json-parse';
import type { BodyRefusal } from '../../../contract/shared-refusals.ts';
import { jsonMistake } from './json-mistake.ts';
import { readRawBody } from './raw-body.ts';

/** Deeper than any real body, and far from where a recursive walk would fail. */
const DEPTH_MAX = 32;

type JsonBody = { value: unknown; text: string } | { refusal: BodyRefusal; bytes: number };

/**
 * The value with its exact text, or why the body is refused (contract: Limits, Request body). `empty` is the value of a body
 * without content, where that is no mistake of its own.
 */
export async function readJsonBody(
  request: Request,
  limitBytes: number,
  { empty }: { empty?: unknown } = {},
): Promise<JsonBody> {
  const read = await readRawBody(request, limitBytes);
  return 'bytes' in read ? parsed(read.bytes, empty) : { refusal: read.refusal, bytes: read.length };
}

const invalid = (problem: string, bytes: number): JsonBody => ({
  refusal: { code: 'invalid_body', problem },
  bytes,
});

function parsed(bytes: Uint8Array, empty: unknown): JsonBody {
  const text = decoded(bytes);
  if (text === undefined) return invalid('body: must be UTF-8', bytes.length);
  if (empty !== undefined && text.trim() === '') return { value: empty, text };
  try {
    // Refuses __proto__ and constructor.prototype: with them a field could be smuggled past its check.
    const value: unknown = parse(text);
    if (deeperThan(value, DEPTH_MAX))
      return invalid(`body: must not be nested deeper than ${DEPTH_MAX}`, bytes.length);
    return { value, text };
  } catch {
    return invalid(`body: ${mistakeIn(text)}`, bytes.length);
  }
}

/** One for all texts: it keeps nothing between whole ones. */
const decoder = new TextDecoder('utf-8', { fatal: true });

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function mistakeIn(text: string): string {
  if (text.trim() === '') return 'is required, as JSON; it came empty';
  const mistake = jsonMistake(text);
  if (!mistake) return 'must not have keys named __proto__ or constructor.prototype';
  const { line, column, expected, came } = mistake;
  const found = came === undefined ? 'the text ends' : `${JSON.stringify(came)} came`;
  return `must be valid JSON: at line ${line}, column ${column}, ${found} where ${expected} is expected`;
}

function deeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((inner) => deeperThan(inner, depth - 1));
}
