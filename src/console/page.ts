/** What a page of the console is: where it is, and how it is made of what the control API answers. */
import type { Child } from 'hono/jsx';
import type { ControlCall } from '../client/control-call.ts';
import type { AnswerOf, ControlEndpoint, RequestOf } from '../contract/control/control-endpoint.ts';

/** One visit of a page. */
export interface Visit {
  /** Asks the control API; what the page cannot do, nobody who has only that API can. */
  call: ControlCall;
  /** Of the address: `/requests/:id` has `id`. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** By the stack's own clock, in milliseconds. */
  nowMs: number;
  /** Nothing can be changed from here. */
  readOnly: boolean;
  /** The API's answers are kept ones: what only a process knows stands elsewhere on the page, as it is now. */
  fromMemory?: boolean;
}

export interface PageContent {
  title: string;
  body: Child;
}

export interface ConsolePage {
  /** Below `/_rewards/console`; names after a colon are the visit's `params`. */
  path: `/${string}`;
  /** Its name in the navigation; pages without one are reached from others. */
  nav?: string;
  /** Rejects with a `PageRefusal` where the API refuses. */
  view: (visit: Visit) => Promise<PageContent>;
}

/** The API's refusal of what a page asked; the visitor sees its status and its words. */
export class PageRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'PageRefusal';
    this.status = status;
  }
}

/** The answer of an endpoint. Throws a `PageRefusal` with the API's own words where it refuses. */
export async function answerOf<E extends ControlEndpoint>(
  { call }: Pick<Visit, 'call'>,
  endpoint: E,
  ...request: object extends RequestOf<E> ? [RequestOf<E>?] : [RequestOf<E>]
): Promise<AnswerOf<E>> {
  const { status, body } = await call(endpoint, ...request);
  if (status < 400) return body;
  throw new PageRefusal(status, wordsOf(body) ?? `The control API answered ${status}.`);
}

function wordsOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, message } = body as { error?: unknown; message?: unknown };
  return [error, message].filter((text) => typeof text === 'string' && text !== '').join(': ') || undefined;
}

/** The address of a page with what is in its query. */
export function pageAddress(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  const at = path === '/' ? '/_rewards/' : `/_rewards/console${path}`;
  return given.length === 0 ? at : `${at}?${new URLSearchParams(given)}`;
}

/** How many rows a list begins with, and how many its address may ask for at most. */
export interface ListSize {
  first: number;
  most: number;
}

/** How many rows an address asks for: what is no number of rows counts as nothing said. */
export function rowsAsked(asked: string | undefined, { first, most }: ListSize): number {
  const count = Math.floor(Number(asked));
  return count >= 1 ? Math.min(most, count) : first;
}

/** What stands below a list that does not show all there is, and where the rest is. */
export interface MoreRows {
  /** How many there are, where that is known. */
  count?: number | undefined;
  href?: string;
  /** What the link says; by default that it shows more. */
  label?: string;
  /** In place of a link. */
  note?: string;
}

/**
 * The same for a list of `count` rows where so many were asked for and may be at most: more of them, or how to find the
 * others. Undefined where all are shown.
 */
export function moreRows(
  list: { count: number; limit: number; most: number; total?: number },
  { href, others }: { href: (limit: string) => string; others: string },
): MoreRows | undefined {
  const { count, limit, most, total } = list;
  if (total === undefined ? count < limit : total <= count) return undefined;
  if (limit < most) return { count: total, href: href(String(most)) };
  return { note: `Only ${count}${total === undefined ? '' : ` of ${total}`} are listed. ${others}` };
}
