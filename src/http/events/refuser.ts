/** How the event handler host refuses. */
import type { EventsRefusal } from '../../contract/events/refusals.ts';
import type { RefusalBody } from '../../contract/shared-refusals.ts';
import type { Refuser } from '../frame/refuse.ts';

export type EventsRefuser = Refuser<EventsRefusal, RefusalBody>;
