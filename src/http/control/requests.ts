/** Looking back on requests over the control API: `GET requests` and `GET requests/:id`, in one line and with everything about one. */
import type { ReadEventState } from '../../actions/events/read-event-state.ts';
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import {
  dryRunEvent,
  listRequests,
  type Replayed,
  type RequestDetail,
  replayRequest,
  type SentEvent,
  sendEvent,
  showRequest,
} from '../../contract/control/requests.ts';
import { explainRelay } from '../../contract/relay/explain-relay.ts';
import type { Check } from '../../rules/events/checks.ts';
import {
  type EventCase,
  type EventLimits,
  explainEvent,
  whenItPasses,
} from '../../rules/events/explain-event.ts';
import {
  brandOf,
  decisionOf,
  type EventTrace,
  type RelayTrace,
  type RequestRecord,
  type RequestTrace,
  userOf,
} from '../frame/request-record.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export type RequestSummary = ReturnType<typeof requestSummary>;

const instant = (ms: number) => new Date(ms).toISOString();

/** Name of the function that a call is of: `purchaseFor`. */
const callOf = (trace: RequestTrace | undefined) =>
  trace?.kind === 'relay' ? (trace.grounds?.function?.split('(')[0] ?? null) : null;

const sentIn = (trace: RequestTrace | undefined) =>
  trace?.kind === 'relay' ? (trace.transactionHash ?? null) : null;

/** A request in one line; with several events, the facts of the first one and the number rewarded. */
export function requestSummary(record: RequestRecord) {
  const { id, atMs, host, method, path, search, status, durationMs, traces } = record;
  const [trace] = traces;
  const events = traces.filter(({ kind }) => kind === 'event');
  const refusal = trace?.refusal;
  const answer = parsed(record.responseBody);
  return {
    id,
    at: instant(atMs),
    host,
    method,
    path,
    search,
    status,
    durationMs,
    /** The event's or the call's outcome; null for a request without one. */
    decision: trace ? decisionOf(trace) : null,
    user: userOf(trace) ?? null,
    eventType: trace?.kind === 'event' ? (trace.submission?.eventType ?? null) : null,
    call: callOf(trace),
    brandId: brandOf(trace) ?? null,
    /** When the check that refused would pass; null: waiting does not help. */
    passesAt:
      refusal && 'passesAtMs' in refusal && refusal.passesAtMs !== undefined
        ? instant(refusal.passesAtMs)
        : null,
    rewardAmount: typeof answer.rewardAmount === 'number' ? answer.rewardAmount : null,
    transactionHash: typeof answer.transactionHash === 'string' ? answer.transactionHash : sentIn(trace),
    error: typeof answer.error === 'string' ? answer.error : null,
    events: events.length,
    rewarded: events.filter((one) => !one.refusal).length,
  };
}

/** The same with both bodies, and each event's checks. */
export function requestDetail(record: RequestRecord, around: { limits: EventLimits; nowMs: number }) {
  const { requestBody, responseBody, origin, credential, headers, answerHeaders, bodyKept, traces } = record;
  return {
    ...requestSummary(record),
    now: instant(around.nowMs),
    origin: origin ?? null,
    credential: credential ?? null,
    requestHeaders: headers,
    responseHeaders: answerHeaders,
    requestBodyKept: bodyKept,
    requestBody: requestBody ?? null,
    responseBody: responseBody ?? null,
    withBrandKey: traces.some((trace) => trace.kind === 'event' && trace.submission?.withBrandKey === true),
    explained: traces.map((trace) =>
      trace.kind === 'relay' ? explainedCall(trace) : explainedEvent({ ...trace, ...around.limits }),
    ),
  };
}

/** Reads how far a reward is now; undefined when the ledger has none of this id. */
type ReadReward = (eventId: string) => Promise<ReadEventState | undefined>;

/** Adds to each event where its reward is now: its transaction may be another than when the request was answered. */
export async function withRewards<Explained extends { eventId?: string | null }, Detail extends object>(
  { explained, ...detail }: Detail & { explained: Explained[] },
  readReward: ReadReward,
) {
  const events = explained.map(async (event) => {
    const found = event.eventId ? await readReward(event.eventId) : undefined;
    if (!found) return { ...event, reward: null };
    const { eventId, rewardAmount, status, transactionHash, blockNumber, reason } = found;
    return { ...event, reward: { eventId, rewardAmount, status, transactionHash, blockNumber, reason } };
  });
  return { ...detail, explained: await Promise.all(events) };
}

const shown = (checks: Check<string>[]) =>
  checks.map(({ passesAtMs, ...check }) => ({
    ...check,
    ...(passesAtMs !== undefined && { passesAt: passesAtMs === null ? null : instant(passesAtMs) }),
  }));

function explainedEvent(trace: EventTrace & EventCase) {
  const outlook = whenItPasses(trace);
  return {
    kind: 'event' as const,
    eventType: trace.submission?.eventType ?? null,
    call: null,
    user: userOf(trace) ?? null,
    aliasOf: trace.aliasOf ?? null,
    eventId: trace.eventId ?? null,
    checks: shown(explainEvent(trace)),
    /** When the whole event would pass; null: it was rewarded, or never will be by waiting. */
    passesAt: outlook && 'atMs' in outlook ? instant(outlook.atMs) : null,
    /** The check at which waiting ends. */
    never: outlook && 'never' in outlook ? { check: outlook.never, text: outlook.text } : null,
  };
}

function explainedCall(trace: RelayTrace) {
  const checks = explainRelay(trace);
  const refused = checks.find(({ outcome }) => outcome === 'refused');
  const { passesAtMs } = refused ?? {};
  return {
    kind: 'relay' as const,
    eventType: null,
    call: callOf(trace),
    user: userOf(trace) ?? null,
    aliasOf: null,
    eventId: null,
    checks: shown(checks),
    passesAt: typeof passesAtMs === 'number' ? instant(passesAtMs) : null,
    never: refused && passesAtMs === null ? { check: refused.name, text: refused.text } : null,
  };
}

function parsed(body: string | undefined): Record<string, unknown> {
  if (body === undefined) return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export interface ControlRequestsDeps {
  requests: {
    list(choice: {
      keep: (entry: RequestRecord) => boolean;
      limit: number;
      after?: string | undefined;
    }): RequestRecord[];
    find(name: string): RequestRecord[];
  };
  /** Limits that `explain` shows beside what was sent. */
  limits: EventLimits;
  nowMs: () => number;
  readReward: ReadReward;
  /** All names of a user, in small letters: an e-mail has a wallet, whose calls are the user's as well. */
  namesOf: (user: string) => Promise<readonly string[]>;
  /** Sends a kept request again, and compares. */
  replay: (original: RequestDetail, options: { newId: boolean }) => Promise<Replayed | NotSent>;
  /** Judges an event as it would be now, or at a time ahead, without effect; `amount` is RWT, where it would be rewarded. */
  dryRun: (
    event: Readonly<Record<string, unknown>>,
    options: { withKey: boolean; atMs: number | undefined },
  ) => Promise<{ trace: EventTrace; amount?: number | undefined }>;
  /** Sends a new event. */
  sendEvent: (
    event: Readonly<Record<string, unknown>>,
    options: { withKey: boolean },
  ) => Promise<SentEvent | NotSent>;
}

interface NotSent {
  not: { why: string; fix?: string };
}

/** Looking back on the emulator's requests: `GET requests` and `GET requests/:id` of the control API. */
export const controlRequests = (deps: ControlRequestsDeps): ControlRoute[] => [
  controlHandler(listRequests, async ({ query }) => {
    const { limit, after, user } = query;
    const names = user === undefined ? undefined : await deps.namesOf(user.toLowerCase());
    const found = deps.requests.list({
      keep: (record) => isWanted(record, { ...query, names }),
      limit,
      after,
    });
    return { requests: found.map(requestSummary) };
  }),
  controlHandler(showRequest, ({ path }) => found(deps, path.id)),
  controlHandler(dryRunEvent, async ({ body: { event, withKey, at } }) => {
    const nowMs = deps.nowMs();
    if (at !== undefined && at < nowMs) {
      const message = `must not lie before ${instant(nowMs)}: what the ledger holds is of now`;
      return { refusal: { code: 'invalid_settings', problems: [{ setting: 'at', message }] } };
    }
    const { trace, amount } = await deps.dryRun(event, { withKey: withKey ?? false, atMs: at });
    return {
      at: instant(trace.nowMs),
      decision: decisionOf(trace),
      rewardAmount: trace.refusal ? null : (amount ?? null),
      explained: { ...explainedEvent({ ...trace, ...deps.limits }), reward: null },
    };
  }),
  controlHandler(sendEvent, async ({ body: { event, withKey } }) => {
    const outcome = await deps.sendEvent(event, { withKey: withKey ?? false });
    return 'not' in outcome ? { refusal: { code: 'not_sent', ...outcome.not } } : outcome;
  }),
  controlHandler(replayRequest, async ({ path, body }) => {
    const original = await found(deps, path.id);
    if ('refusal' in original) return original;
    const outcome = await deps.replay(original, { newId: body.newId ?? false });
    return 'not' in outcome
      ? { refusal: { code: 'not_replayable', id: original.id, ...outcome.not } }
      : outcome;
  }),
];

/** The one request that a name means, with everything about it. */
async function found(
  deps: ControlRequestsDeps,
  name: string,
): Promise<RequestDetail | { refusal: ControlRefusal }> {
  const [record, ...more] = deps.requests.find(name);
  if (!record) return { refusal: { code: 'request_not_found', name } };
  if (more.length > 0) {
    const ids = [record, ...more].map(({ id }) => id).slice(0, AMBIGUOUS_SHOWN);
    return { refusal: { code: 'request_ambiguous', name, count: more.length + 1, ids } };
  }
  const detail = requestDetail(record, { limits: deps.limits, nowMs: deps.nowMs() });
  return withRewards(detail, deps.readReward);
}

const AMBIGUOUS_SHOWN = 5;

type Wanted = Omit<InputOf<typeof listRequests>['query'], 'user'> & {
  /** Under which requests may name the user. */
  names: readonly string[] | undefined;
};

const isWanted = (record: RequestRecord, { status, host, brand, decision, method, path, names }: Wanted) =>
  (status === undefined || String(record.status).startsWith(status.replace('xx', ''))) &&
  (host === undefined || record.host === host) &&
  (brand === undefined || isOfBrand(record, brand)) &&
  (decision === undefined || record.traces.some((trace) => decisionOf(trace) === decision)) &&
  (method === undefined || record.method === method.toUpperCase()) &&
  (path === undefined || record.path.includes(path)) &&
  (names === undefined || record.traces.some((trace) => names.includes(userOf(trace)?.toLowerCase() ?? '')));

const isOfBrand = ({ traces }: RequestRecord, brand: string) =>
  traces.some((trace) => brandOf(trace)?.toLowerCase() === brand.toLowerCase());
