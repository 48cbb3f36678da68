/** Sends one request several times, some of them at once, and keeps each answer. */
import { stopwatch } from '../../lib/timers.ts';
import { reasonsOf } from '../reasons.ts';
import type { Sendable } from './sendable.ts';

export interface Answered {
  number: number;
  /** Null without an answer. */
  status: number | null;
  /** The refusal's reason, or why there is no answer. */
  reason: string | null;
  /** Under which the log has it. */
  requestId: string | null;
  durationMs: number;
}

interface SendSettings {
  times: number;
  concurrency: number;
  timeoutMs: number;
  /** The credential's value, for a request that had one. */
  secret: string | undefined;
  /** A new key of idempotency for each; without it all have the original's. */
  newKey?: (() => string) | undefined;
  fetch: typeof fetch;
}

/** In order of their numbers. */
export async function sendAgain(request: Sendable, settings: SendSettings): Promise<Answered[]> {
  const answered: Answered[] = [];
  const numbers = Array.from({ length: settings.times }, (_, place) => place + 1)[Symbol.iterator]();
  const carry = async () => {
    for (const number of numbers) answered.push({ number, ...(await sendOnce(request, settings)) });
  };
  await Promise.all(Array.from({ length: settings.concurrency }, carry));
  return answered.sort((one, other) => one.number - other.number);
}

async function sendOnce(
  { method, url, headers, credential, body }: Sendable,
  { secret, newKey, timeoutMs, fetch }: SendSettings,
): Promise<Omit<Answered, 'number'>> {
  const sent = new Headers(headers);
  if (credential && secret !== undefined) sent.set(credential.name, credential.scheme + secret);
  if (newKey) sent.set('idempotency-key', newKey());
  const elapsedMs = stopwatch();
  const took = () => Math.round(elapsedMs());
  try {
    const response = await fetch(url, {
      method,
      headers: sent,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    const [reason = null] = reasonsOf({ status: response.status, body: jsonOr(text) });
    return {
      status: response.status,
      reason,
      requestId: response.headers.get('x-request-id'),
      durationMs: took(),
    };
  } catch (error) {
    const reason =
      error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : 'no answer';
    return { status: null, reason, requestId: null, durationMs: took() };
  }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
