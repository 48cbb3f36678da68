/** Turns refusals into answers, in the dialect that the service speaks. */
import type { Context } from 'hono';
import type { Clock } from '../../lib/clock.ts';
import { type ErrorDialect, type Refusal, type RefusalReply, refusalReply } from '../events/refusals.ts';

export interface Refuser {
  /** The answer's parts, for those who do not answer a request with it. */
  reply(refusal: Refusal): RefusalReply;
  /** The answer itself. */
  answer(context: Context, refusal: Refusal): Response;
}

export function createRefuser(deps: { clock: Clock; dialect: ErrorDialect }): Refuser {
  const reply = (refusal: Refusal) =>
    refusalReply(refusal, { nowMs: deps.clock.now(), dialect: deps.dialect });
  return {
    reply,
    answer(context, refusal) {
      const { status, body, retryAfterSeconds } = reply(refusal);
      if (retryAfterSeconds !== undefined) context.header('Retry-After', String(retryAfterSeconds));
      return context.json(body, status);
    },
  };
}
