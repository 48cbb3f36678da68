/** Steps around handlers: each sees a request before its handler, and the answer after it. */
import type { Context, Handler } from 'hono';
import type { RequestVariables } from './request-record.ts';

type InFrame = Context<RequestVariables>;
type MaybeAnswer = Response | undefined | Promise<Response | undefined>;

export interface FrameStep {
  /** Runs before the handler. An answer ends the request here: neither the handler nor the steps inside this one run. */
  before?(context: InFrame): MaybeAnswer;
  /** Runs after the handler, and may return another answer in place of the given one. Left out when this step's `before` threw. */
  after?(context: InFrame, answer: Response): MaybeAnswer;
}

/**
 * Puts steps around a handler, the outermost first. An error becomes an answer at the step that threw it, so that the
 * steps outside of that one still run their `after`. In place of Hono's middleware, of which each makes three promises that live as long as the request.
 */
export function framed(
  steps: readonly FrameStep[],
  answerFailure: (error: unknown, context: InFrame) => Response,
): (handler: Handler<RequestVariables>) => Handler<RequestVariables> {
  return (handler) => async (context, next) => {
    let entered = 0;
    let answer: Response;
    try {
      let early: Response | undefined;
      while (!early && entered < steps.length) {
        const maybe: MaybeAnswer = steps[entered]?.before?.(context);
        if (maybe) early = await maybe;
        entered++;
      }
      answer = early ?? ((await handler(context, next)) as Response);
    } catch (error) {
      answer = answerFailure(error, context);
    }
    while (entered-- > 0) {
      try {
        const other: MaybeAnswer = steps[entered]?.after?.(context, answer);
        if (other) answer = (await other) ?? answer;
      } catch (error) {
        answer = answerFailure(error, context);
      }
    }
    return answer;
  };
}
