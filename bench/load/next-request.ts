/** What each caller sends next. */
import { readFileSync } from 'node:fs';
import type { Load } from './load.ts';

interface Prepared {
  body: string;
  headers?: Record<string, string>;
}

let users = 0;
let sent = 0;
const lists = new Map<string, { lines: Prepared[]; next: number[] }>();

/** The relay counts requests by address: a new one every 50 requests (198.18.0.0/15 is set aside for tests). */
function forwardedFor(): string {
  const place = Math.floor(sent++ / 50) % 2 ** 17;
  return `198.${18 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}`;
}

export const headerText = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

/** Undefined when there is nothing more for this caller; `turn` counts its requests in this load. */
export function nextRequest(
  load: Load,
  { caller, turn }: { caller: number; turn: number },
): { body: string; headers: string } | undefined {
  const prepared = preparedFor(load, caller, turn);
  if (!prepared) return undefined;
  const own = prepared.headers ? headerText(prepared.headers) : '';
  return { body: prepared.body, headers: `x-forwarded-for: ${forwardedFor()}\r\n${own}` };
}

function preparedFor({ requests, callers }: Load, caller: number, turn: number): Prepared | undefined {
  if (requests.kind === 'new users') return { body: requests.body.replace('{n}', String(users++)) };
  const { file, each, inOneLoad = Number.POSITIVE_INFINITY } = requests;
  if (turn >= inOneLoad) return undefined;
  let list = lists.get(file);
  if (!list) {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    list = { lines: lines.map((line) => JSON.parse(line)), next: [] };
    lists.set(file, list);
  }
  const place = list.next[caller] ?? 0;
  list.next[caller] = place + 1;
  return list.lines[Math.floor(place / each) * callers + caller];
}
