/** Mounts an endpoint of the control API: reads the request by the endpoint's value, and answers what its action says. */
import type { Context, Handler } from 'hono';
import {
  type AnswerOf,
  type ControlEndpoint,
  type InputOf,
  readRequest,
} from '../../contract/control/control-endpoint.ts';
import { type ControlRefusal, controlRefusals } from '../../contract/control/refusals/control-refusals.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody } from '../frame/body.ts';
import { createRefuser } from '../frame/refuse.ts';

export interface ControlRoute {
  endpoint: ControlEndpoint;
  handler: Handler;
}

/** An answer, an expected no, or a whole response where the answer is not JSON. */
type Outcome<E> = AnswerOf<E> | { refusal: ControlRefusal } | Response;

export function controlHandler<E extends ControlEndpoint>(
  endpoint: E,
  action: (input: InputOf<E>, context: Context) => Outcome<E> | Promise<Outcome<E>>,
): ControlRoute {
  const handler: Handler = async (context) => {
    const read = readRequest(endpoint, {
      path: context.req.param(),
      query: context.req.query(),
      body: endpoint.body && (await bodyOf(context, endpoint)),
    });
    if ('refusal' in read) return refuse(context, read.refusal);
    const outcome = await action(read.input, context);
    if (outcome instanceof Response) return outcome;
    if (isRefused(outcome)) return refuse(context, outcome.refusal);
    return jsonAnswer(context, outcome, { status: endpoint.status });
  };
  return { endpoint, handler };
}

/** By the endpoints' ids. */
export const handlersOf = (routes: readonly ControlRoute[]): Record<string, Handler> =>
  Object.fromEntries(routes.map(({ endpoint, handler }) => [endpoint.id, handler]));

/** A refusal has a code; an answer may have a text of that name. */
const isRefused = (outcome: unknown): outcome is { refusal: ControlRefusal } =>
  typeof outcome === 'object' &&
  outcome !== null &&
  'refusal' in outcome &&
  typeof outcome.refusal === 'object' &&
  outcome.refusal !== null;

/** The body as JSON; undefined when it is not. */
async function bodyOf({ req }: Context, { parts }: ControlEndpoint): Promise<unknown> {
  const body = await readJsonBody(req.raw, parts.bodyMaxBytes ?? BODY_LIMIT_BYTES, {
    empty: parts.bodyOptional && {},
  });
  return 'value' in body ? body.value : undefined;
}

/** Control requests are small. */
export const BODY_LIMIT_BYTES = 64 * 1024;

// No refusal of this host depends on the time.
const refuser = createRefuser(controlRefusals, { clock: { now: () => 0 } });

/** What the control host's handlers share: how they refuse, and how much they read. */
export const refuse = (context: Context, refusal: ControlRefusal): Response =>
  refuser.answer(context, refusal);
