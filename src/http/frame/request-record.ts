/** What is recorded of a request, for looking at it afterwards. */
import type { RequestHost } from '../../contract/control/requests.ts';
import type { RelayCase } from '../../contract/relay/explain-relay.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { EventCase, EventLimits } from '../../rules/events/explain-event.ts';

/** How an event was decided, for `explain`. */
export interface EventTrace extends Omit<EventCase, keyof EventLimits> {
  kind: 'event';
  /** Of the reward that was granted. */
  eventId?: string | undefined;
  /** What this request decided: `rewarded`, or the code of the refusal; absent where nothing was decided anew. */
  decided?: string | undefined;
}

/** How a call of a user was decided, and what became of it. */
export interface RelayTrace extends RelayCase {
  kind: 'relay';
  /** What became of the call: `confirmed`, or the code of the refusal; absent where it was refused before it was one. */
  decided?: string;
}

export type RequestTrace = EventTrace | RelayTrace;

/** What was decided about an event or call: `rewarded`, `confirmed`, or the code of the refusal. */
export const decisionOf = ({ kind, refusal }: RequestTrace): string =>
  refusal?.code ?? (kind === 'event' ? 'rewarded' : 'confirmed');

/** The user whom a request was about: their key, or the address of their wallet. */
export const userOf = (trace: RequestTrace | undefined): string | undefined =>
  trace?.kind === 'relay' ? trace.userAddress : trace?.submission?.userKey;

/** The brand that the event is of, or that pays for the call. */
export function brandOf(trace: RequestTrace | undefined): string | undefined {
  if (trace?.kind !== 'relay') return trace?.submission?.brandId;
  const payer = trace.grounds?.payer;
  return payer === 'service' ? undefined : payer;
}

/** What a caller proved themselves with: a brand's key, a user's token, a sender's signature. */
export type Credential = 'key' | 'token' | 'signature' | 'password' | 'cookie';

/**
 * How much of a request's body a record has. `refused`: it was too long, or not what a body must be. `redacted`: without the
 * secrets in it. `not kept`: production keeps no bodies.
 */
export type BodyKept = 'whole' | 'none' | 'cut' | 'redacted' | 'refused' | 'not kept';

export interface RequestRecord {
  /** `req_` and 20 digits; also in the answer's X-Request-Id. */
  id: string;
  host: RequestHost;
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
  /** Its kind alone. */
  credential: Credential | undefined;
  /** The few that change what a request does, names in small letters; without bodies none. */
  headers: Record<string, string>;
  answerHeaders: Record<string, string>;
  bodyKept: BodyKept;
  requestBody: string | undefined;
  responseBody: string | undefined;
  traces: RequestTrace[];
}

/** What handlers leave with a request while they work on it. */
export interface RequestNotes {
  requestId: string;
  /** By the service's clock. */
  atMs: number;
  elapsedMs: () => number;
  body?: string;
  traces: RequestTrace[];
  /** The brand whose key came with the request, once it was asked for. */
  brandOfKey?: Promise<BrandId | undefined>;
  /** Of the answer, names in small letters. */
  headers: Record<string, string>;
  /** Of an answer that is this caller's alone. */
  rateHeaders?: Record<string, string>;
  /**
   * The answer that has these headers already, and what it was made of: a web `Response` that is asked for its body is sent
   * as a stream from then on.
   */
  complete?: { answer: Response; text: string; bytes: number; headers: Record<string, string> };
}

export interface RequestVariables {
  Variables: { notes: RequestNotes };
}

export interface Observer {
  /** Told of every request once it is answered, with what it decided; without it bodies are not copied. */
  request?: (record: RequestRecord) => void;
  /** The records have no bodies, which need not be copied then. */
  withoutBodies?: boolean;
}
