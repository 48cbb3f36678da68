/** What production keeps of a request: the facts that explain it, which are put into words when somebody asks. */

import { requestDetail } from '../../http/control/requests.ts';
import {
  brandOf,
  decisionOf,
  type RequestRecord,
  type RequestTrace,
  userOf,
} from '../../http/frame/request-record.ts';
import type { RequestTrace as Row } from '../../ledger/request-traces.ts';
import { scrub, scrubValue } from '../../lib/log.ts';
import { claimedHost } from '../../rules/brands/domain.ts';
import { decimal } from '../../rules/decimal.ts';
import type { ClaimState } from '../../rules/events/claim-policy.ts';
import {
  type EventLimits,
  type ExplainedBrand,
  type ExplainedRule,
  type ExplainedSubmission,
  explainedRefusal,
} from '../../rules/events/explain-event.ts';

type Facts = Pick<RequestRecord, 'durationMs' | 'origin' | 'credential' | 'bodyKept' | 'traces'>;

/** The row's `detail`; the first three for the filters of `requests list`. Rows of earlier versions have their explanation instead. */
interface KeptDetail extends Facts {
  host: RequestRecord['host'];
  brandId: string | undefined;
  decision: string | undefined;
  limits: EventLimits;
}

/** The row of a request, with hashes in place of users. Nothing of its bodies and of its query is in it. */
export function rowOf(
  record: RequestRecord,
  { limits, userHash }: { limits: EventLimits; userHash: (userKey: string) => string },
): Row {
  const { id, atMs: at, method, path, status } = record;
  const { host, durationMs, origin, credential, bodyKept } = record;
  const traces = record.traces.map((trace) => keptTrace(trace, userHash));
  const [first] = traces;
  const detail: KeptDetail & Record<string, unknown> = {
    host,
    brandId: brandOf(first),
    decision: first && decisionOf(first),
    limits,
    durationMs,
    origin: origin && scrub(origin),
    credential,
    bodyKept,
    traces,
  };
  return { id, at, method, path: scrub(path), status, detail, userHash: userOf(first) ?? null };
}

/** A row as the control API describes a request; `nowMs`: when somebody asks. */
export function detailOf(row: Row, nowMs: number): Record<string, unknown> {
  const { detail } = row;
  if (!isKept(detail)) return { ...detail, now: new Date(nowMs).toISOString() };
  const { id, at: atMs, method, path, status } = row;
  const { host, durationMs, origin, credential, bodyKept, traces, limits } = detail;
  const record: RequestRecord = {
    id,
    host,
    atMs,
    method,
    path,
    status,
    durationMs,
    origin,
    credential,
    bodyKept,
    route: '',
    search: '',
    headers: {},
    answerHeaders: {},
    requestBody: undefined,
    responseBody: undefined,
    traces,
  };
  return requestDetail(record, { limits, nowMs });
}

const isKept = (detail: object): detail is KeptDetail => 'traces' in detail;

const scrubbed = <Value extends object>(value: Value) => scrubValue(value) as Value;

/** Each part by its fields: what else an event has, such as its metadata, is not kept. */
function keptTrace(trace: RequestTrace, userHash: (userKey: string) => string): RequestTrace {
  if (trace.kind === 'relay') {
    const { userAddress, decided: _, ...others } = trace;
    return scrubbed({ ...others, userAddress: userAddress && userHash(userAddress) });
  }
  const { kind, eventId, nowMs, bodyBytes, submission, aliasOf, brand, rule, bypass, state, refusal } = trace;
  const said = refusal && explainedRefusal(refusal);
  return {
    kind,
    eventId,
    nowMs,
    bodyBytes,
    bypass,
    state: state && keptState(state),
    submission: submission && keptSubmission(submission, userHash),
    aliasOf: aliasOf && userHash(aliasOf),
    brand: brand && keptBrand(brand),
    rule: rule && keptRule(rule),
    refusal: said && scrubbed(said),
  };
}

/** The same part for the same object: events that were decided together have their brand and rule in common. */
function onceForEach<Whole extends object, Part extends object>(keep: (whole: Whole) => Part) {
  const kept = new WeakMap<Whole, Part>();
  return (whole: Whole): Part => {
    const known = kept.get(whole);
    if (known) return known;
    const part = scrubbed(keep(whole));
    kept.set(whole, part);
    return part;
  };
}

/** What is there when it runs has the row of the counter in it, with the user; what the event is paid once for, callers wrote. */
function keptState(state: ClaimState): ClaimState {
  const { counter, totalClaims, availableFunds, spending, streakMultiplier, once } = state;
  return {
    counter: counter && {
      claims: counter.claims,
      lastAt: counter.lastAt,
      lastRewardId: counter.lastRewardId,
      lastAmount: counter.lastAmount,
    },
    totalClaims,
    availableFunds,
    spending: spending?.map(({ span, limit, spent, endsAtMs }) => ({ span, limit, spent, endsAtMs })),
    streakMultiplier,
    ...(once && { once: { ...once, value: scrub(once.value) } }),
  };
}

function keptSubmission(
  submission: ExplainedSubmission,
  userHash: (userKey: string) => string,
): ExplainedSubmission {
  const { brandId, eventType, userKey, channel, withBrandKey, metadata } = submission;
  const hasTotal = Object.hasOwn(metadata, 'order_total');
  // In place of the three fields from which it was taken.
  const domain = claimedHost(submission);
  return {
    brandId,
    withBrandKey,
    eventType: scrub(eventType),
    userKey: userHash(userKey),
    channel: channel && scrub(channel),
    domain: domain && scrub(domain),
    metadata: hasTotal ? { order_total: amountIn(metadata.order_total) } : {},
  };
}

/** Only what is an amount: anything may have been sent in its place. */
const amountIn = (total: unknown) => (decimal(total) ? String(total).trim() : null);

const keptBrand = onceForEach(({ name, profile }: ExplainedBrand): ExplainedBrand => {
  const { domains, domainless, clientBypass, clientAmounts } = profile;
  const { streakPays, streakCheckInEvents, streakBase } = profile;
  return {
    name,
    profile: {
      domains,
      domainless,
      clientBypass,
      clientAmounts,
      streakPays,
      streakCheckInEvents,
      streakBase,
    },
  };
});

const keptRule = onceForEach((rule: ExplainedRule): ExplainedRule => {
  const { eventType, rewardAmount, cooldownMs, maxClaims, maxTotalClaims, detail } = rule;
  const { channels } = detail.detectionConfig;
  return {
    eventType,
    rewardAmount,
    cooldownMs,
    maxClaims,
    maxTotalClaims,
    detail: { detectionConfig: { channels }, dynamic: detail.dynamic },
  };
});
