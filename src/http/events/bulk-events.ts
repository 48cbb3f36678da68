/** POST bulk-events (contract: Endpoints): every item on its own, all in one commit where they fit. */
import type { Context, Handler } from 'hono';
import { BULK_EVENTS_MAX, bulkEventsBody } from '../../contract/events/bulk-events.ts';
import { parseManualEvent } from '../../contract/events/submission.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody } from '../frame/body.ts';
import { brandOfKey } from '../frame/brand-key.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type EventReply, replyToEvent } from './answer-event.ts';
import type { ManualEventDeps } from './manual-event.ts';

export type BulkEventsDeps = Omit<ManualEventDeps, 'answerOnce'>;

export function bulkEvents(deps: BulkEventsDeps): Handler<RequestVariables> {
  const { settings, refuser, clock } = deps;
  return async (context: Context<RequestVariables>) => {
    const notes = context.get('notes');
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) {
      const { refusal } = body;
      const tooMany = refusal.code === 'body_too_large';
      return refuser.answer(context, tooMany ? { ...refusal, items: true } : refusal);
    }
    notes.body = body.text;
    const batch = bulkEventsBody.safeParse(body.value);
    if (!batch.success) {
      const errors = [`events: must be a list of 1 to ${BULK_EVENTS_MAX} events`];
      return refuser.answer(context, { code: 'invalid_event_data', errors });
    }
    const keyOf = await brandOfKey(deps, context);
    const origin = context.req.header('origin');
    const answers = await Promise.all(
      batch.data.events.map(async (item): Promise<Omit<EventReply, 'kept'>> => {
        const nowMs = clock.now();
        const bodyBytes = Buffer.byteLength(JSON.stringify(item) ?? '');
        const parsed = parseManualEvent(item, { origin, ownDomain: settings.ownDomain });
        if ('errors' in parsed) {
          const refusal = { code: 'invalid_event_data' as const, errors: parsed.errors };
          return { ...refuser.reply(refusal), trace: { kind: 'event', nowMs, bodyBytes, refusal } };
        }
        const submission = { withBrandKey: keyOf === parsed.submission.brandId, ...parsed.submission };
        return replyToEvent(deps, { submission, nowMs, bodyBytes }, await deps.rewardEvent(submission));
      }),
    );
    notes.traces.push(...answers.map(({ trace }) => trace));
    const results = answers.map(({ status, body, trace }) => ({
      ...body,
      status: trace.refusal?.code ?? 'rewarded',
      statusCode: status,
    }));
    const processed = results.filter(({ success }) => success).length;
    return jsonAnswer(context, { success: true, processed, failed: results.length - processed, results });
  };
}
