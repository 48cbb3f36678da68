/** One attempt to deliver a webhook: a bounded POST of stored bytes. */
import { type AskDeps, type AskLimits, ask } from '../outgoing/ask.ts';

export interface PostDeps extends AskDeps {
  clock: { now(): number };
}

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  signal?: AbortSignal;
}

export type Posted =
  | {
      outcome: 'answered';
      status: number;
      /** From the header Retry-After, never below 0. */
      retryAfterMs?: number;
      /** The beginning of the answer, to be kept and shown: what a database cannot store is replaced. */
      body: string;
      ms: number;
    }
  | { outcome: 'failed'; why: string; ms: number };

/** A receiver answers first and works afterwards; one that takes longer counts as one that did not get it. */
const LIMITS: AskLimits = { connectMs: 5_000, totalMs: 15_000, bytesMax: 20_000 };

/** RFC 9110, 10.2.3: seconds, or a date, which is read against the answer's own `Date`. */
function retryAfterMs(
  { 'retry-after': after = '', date = '' }: { 'retry-after'?: string; date?: string },
  nowMs: number,
): number | undefined {
  const text = after.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Date.parse takes more than HTTP dates: a negative number, for one, is a year to it.
  const untilMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(untilMs)) return undefined;
  const answeredMs = Date.parse(date);
  return Math.max(0, untilMs - (Number.isNaN(answeredMs) ? nowMs : answeredMs));
}

/**
 * Never throws for what a receiver does. Every status is an answer, a redirect too: what it means is the deliverer's
 * to say. The contract's Webhooks section has no limits; these are ours: 5 s to connect, 15 s in all, 20,000 bytes.
 */
export async function post(deps: PostDeps, { headers, ...asked }: Post): Promise<Posted> {
  const answer = await ask(deps, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Rewards-Webhooks/1', ...headers },
    limits: LIMITS,
    ...asked,
  });
  if (answer.outcome === 'failed') return answer;
  const afterMs = retryAfterMs(answer.headers, deps.clock.now());
  return {
    outcome: 'answered',
    status: answer.status,
    ...(afterMs !== undefined && { retryAfterMs: afterMs }),
    body: new TextDecoder().decode(answer.body).replaceAll('\0', '\uFFFD'),
    ms: answer.ms,
  };
}
