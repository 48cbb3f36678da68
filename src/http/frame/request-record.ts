/** What is recorded of a request, for looking at it afterwards. */

import type { RelayCase } from '../../contract/relay/explain-relay.ts';
import type { EventCase } from '../../rules/events/explain-event.ts';

/** How an event was decided, for `explain`. */
export interface EventTrace extends Omit<EventCase, 'bodyLimitBytes' | 'duplicateWindowMs'> {
  kind: 'event';
  /** Of the reward that was granted. */
  eventId?: string | undefined;
}

/** How a call of a user was decided, and what became of it. */
export interface RelayTrace extends RelayCase {
  kind: 'relay';
}

export type RequestTrace = EventTrace | RelayTrace;

/** What was decided about an event or call: `rewarded`, `confirmed`, or the code of the refusal. */
export const decisionOf = ({ kind, refusal }: RequestTrace): string =>
  refusal?.code ?? (kind === 'event' ? 'rewarded' : 'confirmed');

/** The user whom a request was about: their key, or the address of their wallet. */
export const userOf = (trace: RequestTrace | undefined): string | undefined =>
  trace?.kind === 'relay' ? trace.userAddress : trace?.submission?.userKey;

/** The same with another name for its user, for where nobody is to be known. */
export function withUser(trace: RequestTrace, name: (user: string) => string): RequestTrace {
  if (trace.kind === 'relay') {
    const { userAddress } = trace;
    return { ...trace, ...(userAddress !== undefined && { userAddress: name(userAddress) }) };
  }
  const { submission, ...more } = trace;
  return { ...more, ...(submission && { submission: { ...submission, userKey: name(submission.userKey) } }) };
}

/** The brand that the event is of, or that pays for the call. */
export function brandOf(trace: RequestTrace | undefined): string | undefined {
  if (trace?.kind !== 'relay') return trace?.submission?.brandId;
  const payer = trace.grounds?.payer;
  return payer === 'service' ? undefined : payer;
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
  traces: RequestTrace[];
}

/** What handlers leave with a request while they work on it. */
interface RequestNotes {
  requestId: string;
  body?: string;
  traces: RequestTrace[];
}

export interface RequestVariables {
  Variables: { notes: RequestNotes };
}
