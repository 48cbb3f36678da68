/** GET events/<eventId>: how far a reward is. */
import type { Handler } from 'hono';
import type { ReadEventState } from '../../actions/events/read-event-state.ts';
import type { EventState } from '../../contract/events/event-state.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface EventStateDeps {
  /** `actions/events/read-event-state` with its deps bound. */
  readEventState: (eventId: string) => Promise<ReadEventState | undefined>;
  refuser: Pick<EventsRefuser, 'answer'>;
}

export function eventState({ readEventState, refuser }: EventStateDeps): Handler<RequestVariables> {
  return async (context) => {
    const eventId = context.req.param('eventId') ?? '';
    const found = await readEventState(eventId);
    if (!found) return refuser.answer(context, { code: 'event_unknown', eventId });
    const state: EventState = { success: true, ...found };
    return jsonAnswer(context, state, { headers: { 'cache-control': 'no-store' } });
  };
}
