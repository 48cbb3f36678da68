/** POST manual-event (contract: Endpoints). */
import type { Context, Handler } from 'hono';
import { parseManualEvent } from '../../contract/events/submission.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type AnswerOnce, answerKeyed, idempotencyKeyOf, idempotently } from '../frame/idempotently.ts';
import { readJsonBody } from '../frame/json-body.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type AnswerEventDeps, answerEvent } from './answer-event.ts';
import type { EventsRefuser } from './refuser.ts';

export interface ManualEventDeps extends AnswerEventDeps {
  answerOnce: AnswerOnce;
  /** The brand whose key came with the request. */
  verifyBrandKey: (authorization: string | undefined) => Promise<BrandId | undefined>;
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
  return async (context: Context<RequestVariables>) => {
    const notes = context.get('notes');
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    const nowMs = clock.now();
    if ('refusal' in body) {
      const { refusal, bytes: bodyBytes } = body;
      notes.traces.push({ kind: 'event', nowMs, bodyBytes, refusal });
      return refuser.answer(context, refusal);
    }
    notes.body = body.text;
    const bodyBytes = Buffer.byteLength(body.text);
    const origin = context.req.header('origin');
    const parsed = parseManualEvent(body.value, { origin, ownDomain: settings.ownDomain });
    const keyed = idempotencyKeyOf(context.req.header('idempotency-key'), body.value);
    if ('errors' in parsed || 'problem' in keyed) {
      const errors = [
        ...('errors' in parsed ? parsed.errors : []),
        ...('problem' in keyed ? [keyed.problem] : []),
      ];
      const refusal = { code: 'invalid_event_data' as const, errors };
      notes.traces.push({ kind: 'event', nowMs, bodyBytes, refusal });
      return refuser.answer(context, refusal);
    }

    const { brandId } = parsed.submission;
    const keyOf = await deps.verifyBrandKey(context.req.header('authorization'));
    const submission = { ...parsed.submission, withBrandKey: keyOf === brandId };
    // Strangers who guess a brand's keys get nothing of its requests, and stop none of them.
    const asker = submission.withBrandKey ? 'with its key' : `from ${origin ?? 'no origin'}`;
    const request = { scope: `manual-event ${brandId} ${asker}`, key: keyed.key, body: body.text };
    const answer = await idempotently(deps.answerOnce, request, async (effect) => {
      const reply = await answerEvent(deps, { submission, nowMs, bodyBytes }, effect);
      notes.traces.push(reply.trace);
      const { status, headers, kept } = reply;
      return { status, headers, kept, body: JSON.stringify(reply.body) };
    });
    return 'code' in answer ? refuser.answer(context, answer) : answerKeyed(context, answer);
  };
}
