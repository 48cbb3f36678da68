/** What is recorded of a request, for looking at it afterwards. */
import type { EventCase } from '../../rules/events/explain-event.ts';

/** How an event was decided, for `explain`. */
export interface EventTrace extends Omit<EventCase, 'bodyLimitBytes' | 'duplicateWindowMs'> {
  kind: 'event';
  /** Of the reward that was granted. */
  eventId?: string | undefined;
}

export interface RequestRecord {
  /** `req_` and 20 random digits; also in the answer's X-Request-Id. */
  id: string;
  /** By the service's clock. */
  atMs: number;
  method: string;
  path: string;
  /** The route's own pattern. */
  route: string;
  /** The query with its question mark, or nothing. */
  search: string;
  status: number;
  durationMs: number;
  origin: string | undefined;
  requestBody: string | undefined;
  responseBody: string | undefined;
  traces: EventTrace[];
}

/** What handlers leave with a request while they work on it. */
interface RequestNotes {
  requestId: string;
  body?: string;
  traces: EventTrace[];
}

export interface RequestVariables {
  Variables: { notes: RequestNotes };
}
