/** `rewards send-event`: sends one customer event and shows the reward, or the reason for the refusal. */

import { createClient } from '../../client/create-client.ts';
import { type RequestDetail, showRequest } from '../../contract/control/requests.ts';
import { stopwatch } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import type { Problem } from '../machine/errors.ts';
import { problemText } from '../machine/output.ts';
import { keyHeader, readJsonObject } from '../machine/read-input.ts';
import { expectedLine, refusalLines, rewardLine, type SentEvent } from '../send-event/view.ts';
import { isObject, type JsonObject } from '../service/assignments.ts';
import { buildEventBody, type EventFlags } from '../service/event-body.ts';
import { type Expectation, parseExpectation, reasonsOf } from '../service/expectation.ts';
import { namedBrand } from '../service/named-brand.ts';
import { noteRequest, serviceProblem } from '../service/service-reply.ts';
import { clientFor, resolveTarget, type Target } from '../service/target.ts';
import { isRequestDetail } from './requests/requests.ts';

interface SendEventOptions extends EventFlags {
  file?: string;
  expect?: string;
  idempotencyKey?: string;
  apiKeyFile?: string;
}

/** Checks the whole command line before it sends anything. */
export const sendEvent: Handler<SendEventOptions> = async (context, options) => {
  const { runtime } = context;
  const expected = options.expect === undefined ? undefined : parseExpectation(options.expect);
  const file = options.file === undefined ? undefined : await readJsonObject(runtime, options.file);
  const target = await resolveTarget(context);
  const sent = await bodyOf(context, options, { file, target });
  const headers = await headersOf(context, options);

  const elapsedMs = stopwatch();
  const reply = await clientFor(target, context).sendEvent(sent, { headers });
  const tookMs = elapsedMs();
  const requestId = noteRequest(context, reply);
  const rewarded = reply.status >= 200 && reply.status < 300;
  const explained = rewarded || !requestId ? undefined : await explanationOf(context, { target, requestId });
  const event: SentEvent = { sent, reply, tookMs, explained };

  const data = { status: reply.status, headers: reply.headers, body: reply.body };
  const problem = problemIn(event, expected);
  if (problem) {
    return {
      ok: false,
      error: problem,
      data,
      ...(!rewarded && {
        text: (style) =>
          [...(expected ? [problemText(problem, style)] : []), refusalLines(event, style)].join('\n'),
      }),
    };
  }
  return {
    ok: true,
    data,
    env: { status: reply.status, body: reply.body },
    text: (style) => (rewarded ? rewardLine(event, style) : expectedLine(event, style)),
  };
};

/** A brand that the file or --set names by its id is sent as it is. */
async function bodyOf(
  context: CommandContext,
  options: SendEventOptions,
  { file, target }: { file: JsonObject | undefined; target: Target },
): Promise<JsonObject> {
  const listed = target.run?.brands ?? [];
  const isSaid =
    file !== undefined || [...(options.set ?? []), ...(options.setString ?? [])].some(namesBrand);
  if (isSaid && options.brand === undefined) return buildEventBody(options, { file, brands: listed });
  if (options.type === undefined && file === undefined)
    return buildEventBody(options, { file, brands: listed });
  const brand = await namedBrand(context, target, options.brand);
  const flags = options.brand === undefined ? options : { ...options, brand: brand?.brandId };
  return buildEventBody(flags, { file, brands: brand ? [brand] : [] });
}

const namesBrand = (assignment: string) => assignment.startsWith('brandId=');

/** Longest wait for the emulator's explanation of a refusal, which is optional. */
const EXPLANATION_TIMEOUT_MS = 2_000;

/** The emulator's explanation of a request; undefined for any other service. */
async function explanationOf(
  { settings, runtime }: CommandContext,
  { target, requestId }: { target: Target; requestId: string },
): Promise<RequestDetail | undefined> {
  const { hostname } = new URL(target.urls.control);
  const mayBeEmulator = target.run || runtime.env.REWARDS_CONTROL_TOKEN || LOOPBACK.has(hostname);
  if (!mayBeEmulator) return undefined;
  const client = createClient({
    urls: target.urls,
    controlToken: target.controlToken,
    timeoutMs: Math.min(settings.timeout, EXPLANATION_TIMEOUT_MS),
  });
  const reply = await client.call(showRequest, { path: { id: requestId } }).catch(() => undefined);
  return reply?.status === 200 && isRequestDetail(reply.body) ? reply.body : undefined;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

async function headersOf(
  { runtime }: CommandContext,
  { origin, idempotencyKey, apiKeyFile }: SendEventOptions & { origin?: string },
): Promise<Record<string, string>> {
  return {
    ...(origin && { origin }),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    ...(await keyHeader(runtime, apiKeyFile)),
  };
}

/** Undefined when the answer is a reward or, with --expect, the expected one. */
function problemIn({ reply, explained }: SentEvent, expected: Expectation | undefined): Problem | undefined {
  const problem = serviceProblem(reply, expected);
  if (!problem || expected) return problem;
  const details = { ...(isObject(problem.details) && problem.details), ...failedCheck(explained) };
  const isUseless = reply.status >= 500 && reasonsOf(reply).some((reason) => NOT_AGAIN.has(reason));
  return { ...problem, retryable: problem.retryable && !isUseless, details };
}

/** The check that refused, and when the whole event would pass. */
function failedCheck(request: RequestDetail | undefined): JsonObject {
  const [event] = request?.explained ?? [];
  const check = event?.checks.find(({ outcome }) => outcome === 'refused');
  return event && check ? { check, passesAt: event.passesAt, never: event.never } : {};
}

/** Failures of the service after which the same event must not be sent again, or would fail again. */
const NOT_AGAIN: ReadonlySet<string> = new Set(['payout_pending', 'insufficient_brand_balance']);
