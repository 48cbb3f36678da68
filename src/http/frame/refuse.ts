/** Turns refusals into answers: by the host's table, on the clock of its decisions, in the dialect that it speaks. */
import type { Context } from 'hono';
import type { Coded, ErrorDialect, RefusalAnswer, RefusalTable } from '../../contract/refusals.ts';
import type { Clock } from '../../lib/clock.ts';
import { jsonAnswer } from './answer.ts';

export interface Refuser<R extends Coded, Body = unknown> {
  /** The answer's parts, Retry-After among the headers, for callers that put them into another answer. */
  reply(refusal: R): RefusalAnswer<Body>;
  /** The answer itself. */
  answer(context: Context, refusal: R): Response;
}

export function createRefuser<R extends Coded, Body>(
  table: RefusalTable<R, Body>,
  deps: { clock: Pick<Clock, 'now'>; dialect?: ErrorDialect | undefined },
): Refuser<R, Body> {
  const reply = (refusal: R) =>
    withRetryAfter(
      table.answer(refusal, { nowMs: deps.clock.now(), ...(deps.dialect && { dialect: deps.dialect }) }),
    );
  return {
    reply,
    answer(context, refusal) {
      const { status, body, headers } = reply(refusal);
      return jsonAnswer(context, body, { status, headers });
    },
  };
}

function withRetryAfter<Body>(answer: RefusalAnswer<Body>): RefusalAnswer<Body> {
  const { retryAfterSeconds, headers } = answer;
  if (retryAfterSeconds === undefined) return answer;
  return { ...answer, headers: { ...headers, 'Retry-After': String(retryAfterSeconds) } };
}
