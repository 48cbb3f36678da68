/** Idempotency-Key: wraps a handler's work, so that what had its effect is done once. */
import type { Context } from 'hono';
import type { Effect, Kept, KeyedAnswer, KeyRefusal, TriedAnswer } from '../../actions/answer-once.ts';
import { IDEMPOTENCY_KEY_PROBLEM, idempotencyKeyField } from '../../contract/headers.ts';
import { jsonText } from './answer.ts';

/** `actions/answer-once` with its deps bound. */
export type AnswerOnce = (
  request: { scope: string; key: string; body: string },
  perform: (effect: Effect) => Promise<TriedAnswer>,
) => Promise<KeyedAnswer | KeyRefusal>;

/** What a handler answers to one try, and what is kept of it under the key. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
  kept: Kept;
}

const written = ({ status, headers, body, kept }: Reply): TriedAnswer => ({
  status,
  ...(headers && { headers }),
  body: JSON.stringify(body),
  kept,
});

/** `perform` is told the id that its effect must have; without a key it is simply done. */
export function idempotently(
  answerOnce: AnswerOnce,
  request: { scope: string; key: string | undefined; body: string },
  perform: (effect?: Effect) => Promise<Reply>,
): Promise<KeyedAnswer | KeyRefusal> {
  const { scope, key, body } = request;
  if (key === undefined) return perform().then(written);
  return answerOnce({ scope, key, body }, (effect) => perform(effect).then(written));
}

/** Reads the key from the header, or from the body for pages, which cannot send custom headers across origins. */
export function idempotencyKeyOf(
  header: string | undefined,
  body?: unknown,
): { key?: string } | { problem: string } {
  const inBody =
    typeof body === 'object' && body !== null && 'idempotencyKey' in body ? body.idempotencyKey : undefined;
  const value = header ?? inBody ?? undefined;
  if (value === undefined || value === '') return {};
  const parsed = idempotencyKeyField.safeParse(value);
  return parsed.success ? { key: parsed.data } : { problem: IDEMPOTENCY_KEY_PROBLEM };
}

/** A kept or fresh answer as a response, beside the headers that were set before. */
export const answerKeyed = (context: Context, { status, headers, body }: KeyedAnswer): Response =>
  jsonText(context, { text: body, status, headers });
