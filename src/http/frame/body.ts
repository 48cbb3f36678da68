/** Reads a request's body, within a limit and without trusting anything about it: as JSON, or as the bytes that came. */
import { parse } from 'secure-json-parse';
import type { BodyRefusal } from '../../contract/shared-refusals.ts';

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

interface JsonMistake {
  /** Both from 1. */
  line: number;
  column: number;
  expected: string;
  /** What stands there; undefined: the text ends. */
  came: string | undefined;
}

const BLANK = /[ \t\n\r]*/y;
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SIMPLE = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
/** What is shown of a wrong word. */
const WORD = /"[^"\n]{0,20}"?|[\w.+-]{1,20}|./uy;

type Wanted = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'more' | 'end';

const EXPECTED: Record<Wanted, string> = {
  value: 'a value',
  'first value': 'a value or ]',
  name: 'a name in double quotes',
  'first name': 'a name in double quotes or }',
  colon: ':',
  more: ', or the closing bracket',
  end: 'nothing more',
};

/** Undefined for a text that is JSON. */
function jsonMistake(text: string): JsonMistake | undefined {
  const open: ('{' | '[')[] = [];
  let at = 0;
  let wanted: Wanted = 'value';
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? '';
  };
  /** Whether it stands here; then it is passed. */
  const take = (pattern: RegExp): boolean => {
    const { length } = match(pattern);
    at += length;
    return length > 0;
  };
  const takeSign = (sign: string): boolean => {
    if (text[at] !== sign) return false;
    at++;
    return true;
  };
  const after = (): Wanted => (open.length > 0 ? 'more' : 'end');
  const close = (): Wanted => {
    open.pop();
    return after();
  };
  const begin = (bracket: '{' | '['): Wanted => {
    open.push(bracket);
    return bracket === '{' ? 'first name' : 'first value';
  };
  const afterMember = (inObject: boolean): Wanted | undefined => {
    if (takeSign(',')) return inObject ? 'name' : 'value';
    return takeSign(inObject ? '}' : ']') ? close() : undefined;
  };
  const step = (): Wanted | undefined => {
    if (wanted === 'more') return afterMember(open.at(-1) === '{');
    if (wanted === 'colon') return takeSign(':') ? 'value' : undefined;
    if (wanted === 'first name' && takeSign('}')) return close();
    if (wanted === 'first value' && takeSign(']')) return close();
    if (wanted === 'name' || wanted === 'first name') return take(TEXT) ? 'colon' : undefined;
    if (takeSign('{')) return begin('{');
    if (takeSign('[')) return begin('[');
    return take(TEXT) || take(SIMPLE) ? after() : undefined;
  };
  for (;;) {
    take(BLANK);
    if (wanted === 'end' && at === text.length) return undefined;
    const next: Wanted | undefined = wanted === 'end' ? undefined : step();
    if (!next) break;
    wanted = next;
  }
  const before = text.slice(0, at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { line: before.length, column, expected: EXPECTED[wanted], came: match(WORD) || undefined };
}
