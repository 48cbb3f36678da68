/** POST manual-event (contract: Endpoints). */
import type { Handler } from 'hono';
import { answerOnce } from '../../actions/answer-once.ts';
import { verifyBrandKey } from '../../actions/brands/verify-brand-key.ts';
import { parseManualEvent } from '../../contract/events/manual-event.ts';
import { IDEMPOTENCY_KEY_PROBLEM, idempotencyKeyField } from '../../contract/idempotency-key.ts';
import { readJsonBody } from '../frame/json-body.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type EventReply, submitEvent } from './answer-event.ts';
import type { EventsHostDeps } from './host.ts';
import type { RefusalReply } from './refusals.ts';

export function manualEvent(deps: EventsHostDeps): Handler<RequestVariables> {
  const { settings, refuser, clock } = deps;
  return async (context) => {
    const notes = context.get('notes');
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    const nowMs = clock.now();
    if ('refusal' in body) {
      notes.traces.push({ kind: 'event', nowMs, bodyBytes: body.bytes, refusal: body.refusal });
      return refuser.answer(context, body.refusal);
    }
    notes.body = body.text;
    const bodyBytes = Buffer.byteLength(body.text);
    const origin = context.req.header('origin');
    const parsed = parseManualEvent(body.value, { origin, ownDomain: settings.ownDomain });
    const key = idempotencyKey(context.req.header('idempotency-key'), body.value);
    const errors = [
      ...('errors' in parsed ? parsed.errors : []),
      ...(key && 'error' in key ? [key.error] : []),
    ];
    if ('errors' in parsed || errors.length > 0) {
      const refusal = { code: 'invalid_event_data' as const, errors };
      notes.traces.push({ kind: 'event', nowMs, bodyBytes, refusal });
      return refuser.answer(context, refusal);
    }

    const keyOf = await verifyBrandKey(deps, context.req.header('authorization'));
    const event = { unkeyed: parsed.submission, keyOf, bodyBytes };
    const perform = async (effect?: { id: string; mayExist: boolean }): Promise<EventReply> => {
      const reply = await submitEvent({ ...deps, nowMs }, event, effect);
      notes.traces.push(reply.trace);
      return reply;
    };
    if (!key || 'error' in key) {
      const { status, body: answer, retryAfterSeconds } = await perform();
      return json(status, JSON.stringify(answer), retryAfterSeconds);
    }
    const scope = `manual-event ${parsed.submission.brandId}`;
    const answer = await answerOnce(deps, { scope, key: key.value, body: body.text }, async (effect) => {
      const reply = await perform(effect);
      return { status: reply.status, body: JSON.stringify(reply.body) };
    });
    if ('code' in answer) return refuser.answer(context, answer);
    return json(answer.status, answer.body, remainingSecondsIn(answer));
  };
}

/** What Retry-After said with an answer of which only the body was kept. */
function remainingSecondsIn({ status, body }: { status: number; body: string }): number | undefined {
  if (status < 400) return undefined;
  const { details } = JSON.parse(body) as RefusalReply['body'];
  return typeof details.remainingSeconds === 'number' ? details.remainingSeconds : undefined;
}

function json(status: number, body: string, retryAfterSeconds?: number): Response {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  return new Response(body, { status, headers });
}

/** From the header, or from the body for pages, which may not send headers of their own across origins. */
function idempotencyKey(
  header: string | undefined,
  body: unknown,
): { value: string } | { error: string } | undefined {
  const inBody =
    typeof body === 'object' && body !== null && 'idempotencyKey' in body ? body.idempotencyKey : undefined;
  const value = header ?? inBody ?? undefined;
  if (value === undefined || value === '') return undefined;
  const parsed = idempotencyKeyField.safeParse(value);
  return parsed.success ? { value: parsed.data } : { error: IDEMPOTENCY_KEY_PROBLEM };
}
