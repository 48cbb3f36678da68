/** Files named on the command line; `-` is standard input. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isObject, type JsonObject } from '../service/assignments.ts';
import type { Runtime } from './context.ts';
import { CliError } from './errors.ts';

/** The text of a file; E_FILE when it cannot be read. */
export async function readInput({ cwd, readStdin }: Runtime, path: string): Promise<string> {
  if (path === '-') return readStdin();
  try {
    return await readFile(resolve(cwd, path), 'utf8');
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): CliError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  return new CliError(
    'E_FILE',
    { message: `${path} cannot be read (${code}).`, details: { path, code } },
    { cause },
  );
}

/** The bytes of a file, as they are; E_FILE when it cannot be read. Standard input is taken as UTF-8. */
export async function readBytes({ cwd, readStdin }: Runtime, path: string): Promise<Uint8Array> {
  if (path === '-') return Buffer.from(await readStdin());
  try {
    return await readFile(resolve(cwd, path));
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** The text of bytes, a byte order mark included; E_FILE when they are not UTF-8. */
export function utf8Of(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const message = `${path} is not UTF-8, which every webhook's body is.`;
    throw new CliError('E_FILE', { message, details: { path } }, { cause });
  }
}

/** Reads one JSON object from a file; E_BODY with line and column when the file holds anything else. */
export async function readJsonObject(runtime: Runtime, path: string): Promise<JsonObject> {
  const text = (await readInput(runtime, path)).replace(/^\uFEFF/, '');
  const name = path === '-' ? 'standard input' : path;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(
      'E_BODY',
      { message: `${name}${placeOf(reason, text)}: ${reason}`, details: { path } },
      { cause },
    );
  }
  if (!isObject(value))
    throw new CliError('E_BODY', { message: `${name} does not hold a JSON object.`, details: { path } });
  return value;
}

/** Reads a secret from the first line of a file; E_FILE when that line is empty. */
export async function readSecret(runtime: Runtime, path: string): Promise<string> {
  const secret = (await readInput(runtime, path)).split('\n')[0]?.trim();
  if (!secret || !/^[\x21-\x7e]+$/.test(secret)) {
    throw new CliError('E_FILE', {
      message: `${path} does not hold a key on its first line.`,
      details: { path },
    });
  }
  return secret;
}

/** The brand's API key: of the file where one is named, else REWARDS_API_KEY; undefined without either. */
export async function readApiKey(runtime: Runtime, path: string | undefined): Promise<string | undefined> {
  return path === undefined ? runtime.env.REWARDS_API_KEY : readSecret(runtime, path);
}

/** `:2:14`: line and column of the syntax error, where JSON.parse's message tells. */
function placeOf(reason: string, text: string): string {
  const position = /position (\d+)/.exec(reason)?.[1];
  const at = position === undefined ? unexpectedAt(reason, text) : Number(position);
  if (at === undefined) return '';
  const before = text.slice(0, at).split('\n');
  return `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Node names an unexpected character but not its place, which is where the text, cut after that character, fails the same way. */
function unexpectedAt(reason: string, text: string): number | undefined {
  const complaint = /^Unexpected token '(.)'/su.exec(reason);
  if (!complaint?.[1]) return undefined;
  for (let at = text.indexOf(complaint[1]); at !== -1; at = text.indexOf(complaint[1], at + 1)) {
    try {
      JSON.parse(text.slice(0, at + complaint[1].length));
    } catch (error) {
      if (error instanceof Error && error.message.startsWith(complaint[0])) return at;
    }
  }
  return undefined;
}

/** The header that carries the brand's API key; without a key nothing. */
export async function keyHeader(runtime: Runtime, path: string | undefined): Promise<Record<string, string>> {
  const apiKey = await readApiKey(runtime, path);
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {};
}
