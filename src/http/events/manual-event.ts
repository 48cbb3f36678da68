/** POST manual-event (contract: Endpoints). */
import type { Context, Handler } from 'hono';
import type { Effect } from '../../actions/answer-once.ts';
import type { EventOutcome } from '../../actions/events/reward-event.ts';
import { parseManualEvent, type Unkeyed } from '../../contract/events/submission.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import { readJsonBody } from '../frame/body.ts';
import { type BrandKeyDeps, brandOfKey } from '../frame/brand-key.ts';
import { type AnswerOnce, answerKeyed, idempotencyKeyOf, idempotently } from '../frame/idempotently.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { replyToEvent } from './answer-event.ts';
import type { EventsRefuser } from './refuser.ts';

export interface ManualEventDeps extends BrandKeyDeps {
  /** `actions/events/reward-event` with its deps bound. */
  rewardEvent: (submission: EventSubmission, effect?: Effect) => Promise<EventOutcome>;
  answerOnce: AnswerOnce;
  refuser: EventsRefuser;
  clock: Pick<Clock, 'now'>;
  settings: {
    /** The contract's limit for a request body. */
    bodyLimitBytes: number;
    /** Domain under which users of chat platforms get their stand-in e-mail. */
    ownDomain: string;
  };
}

export function manualEvent(deps: ManualEventDeps): Handler<RequestVariables> {
  const { settings, refuser, clock } = deps;
  // What waits for the reward keeps its variables: so one function reads, and others do what comes after.
  return async (context: Context<RequestVariables>) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    const nowMs = clock.now();
    const asked = 'refusal' in body ? body : readAsked(deps, context, body);
    if ('submission' in asked) return answerAsked(deps, context, { nowMs, ...asked });
    const { refusal, bytes: bodyBytes } = asked;
    context.get('notes').traces.push({ kind: 'event', nowMs, bodyBytes, refusal });
    return refuser.answer(context, refusal);
  };
}

type InFrame = Context<RequestVariables>;

/** What a request asks for, checked. */
interface Asked {
  submission: Unkeyed;
  key: string | undefined;
  text: string;
  bytes: number;
}

function readAsked(
  { settings }: ManualEventDeps,
  context: InFrame,
  { text, value }: { text: string; value: unknown },
): Asked | { refusal: { code: 'invalid_event_data'; errors: string[] }; bytes: number } {
  context.get('notes').body = text;
  const bytes = Buffer.byteLength(text);
  const origin = context.req.header('origin');
  const parsed = parseManualEvent(value, { origin, ownDomain: settings.ownDomain });
  const keyed = idempotencyKeyOf(context.req.header('idempotency-key'), value);
  if ('submission' in parsed && !('problem' in keyed))
    return { submission: parsed.submission, key: keyed.key, text, bytes };
  const errors = [
    ...('errors' in parsed ? parsed.errors : []),
    ...('problem' in keyed ? [keyed.problem] : []),
  ];
  return { refusal: { code: 'invalid_event_data', errors }, bytes };
}

async function answerAsked(
  deps: ManualEventDeps,
  context: InFrame,
  asked: Asked & { nowMs: number },
): Promise<Response> {
  const { brandId, origin } = asked.submission;
  // Without a promise where no key came.
  const verified = brandOfKey(deps, context);
  const keyOf = verified && (await verified);
  const submission = { withBrandKey: keyOf === brandId, ...asked.submission };
  const event = { submission, nowMs: asked.nowMs, bodyBytes: asked.bytes };
  // Strangers who guess a brand's keys get nothing of its requests, and stop none of them.
  const asker = submission.withBrandKey ? 'with its key' : `from ${origin ?? 'no origin'}`;
  const request = { scope: `manual-event ${brandId} ${asker}`, key: asked.key, body: asked.text };
  const answer = await idempotently(deps.answerOnce, request, (effect) =>
    deps.rewardEvent(submission, effect).then((outcome) => {
      const reply = replyToEvent(deps, event, outcome);
      context.get('notes').traces.push(reply.trace);
      return reply;
    }),
  );
  return 'code' in answer ? deps.refuser.answer(context, answer) : answerKeyed(context, answer);
}
