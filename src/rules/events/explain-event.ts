/** Tells why an event was rewarded or not: each check in its order, with its numbers, and when it would pass. */
import { formatDuration } from '../../lib/duration.ts';
import { type BrandProfile, type EventRule, isUnlimited } from '../brands/brand.ts';
import type { CheckInSettings } from '../brands/check-in-events.ts';
import { claimedHost, type EventOrigin, isLoopback } from '../brands/domain.ts';
import { type Check, explainChecks } from './checks.ts';
import { type Bypass, type ClaimRefusal, type ClaimState, refuseClaim } from './claim-policy.ts';
import { amountsCount, paysWithoutEnd, rewardAmount, worthOf } from './reward-amount.ts';
import type { EventSubmission, ScreeningRefusal } from './submission.ts';

const CHECKS = [
  'body',
  'fields',
  'brand',
  'automation',
  'credential',
  'domain',
  'event',
  'channel',
  'duplicate',
  'cooldown',
  'max_claims',
  'max_total_claims',
  'spend_limit',
  'brand_funds',
] as const;
type CheckName = (typeof CHECKS)[number];
type EventCheck = Check<CheckName>;

/** The parts of an event, its brand and its rule that explanations rest on: all that has to be kept of them. */
export type ExplainedSubmission = EventOrigin &
  Pick<EventSubmission, 'brandId' | 'eventType' | 'userKey' | 'channel' | 'metadata' | 'withBrandKey'>;
export interface ExplainedBrand {
  name: string;
  profile: Pick<BrandProfile, 'domains' | 'domainless' | 'clientBypass' | 'clientAmounts'> & CheckInSettings;
}
export type ExplainedRule = Pick<
  EventRule,
  'eventType' | 'rewardAmount' | 'cooldownMs' | 'maxClaims' | 'maxTotalClaims'
> & {
  detail: Pick<EventRule['detail'], 'dynamic'> & {
    detectionConfig: Pick<EventRule['detail']['detectionConfig'], 'channels'>;
  };
};

/** Limits of the service, as an event met them. */
export interface EventLimits {
  bodyLimitBytes: number;
  duplicateWindowMs: number;
}

/** What is known about a request; the later parts are missing when the request did not get that far. */
export interface EventCase extends EventLimits {
  nowMs: number;
  bodyBytes: number;
  submission?: ExplainedSubmission | undefined;
  /** The user whose alias the event named; absent where it named the user. */
  aliasOf?: string | undefined;
  brand?: ExplainedBrand | undefined;
  rule?: ExplainedRule | undefined;
  bypass?: Bypass | undefined;
  state?: ClaimState | undefined;
  refusal?: { code: string } | ScreeningRefusal | ClaimRefusal | undefined;
}

/** At which check each refusal comes. */
const REFUSED_AT: Record<string, CheckName> = {
  body_too_large: 'body',
  invalid_body: 'body',
  invalid_event_data: 'fields',
  brand_not_found: 'brand',
  automation_disabled: 'automation',
  brand_key_required: 'credential',
  domain_not_authorized: 'domain',
  event_not_found: 'event',
  channel_not_allowed: 'channel',
  duplicate: 'duplicate',
  already_rewarded: 'duplicate',
  cooldown: 'cooldown',
  max_claims_reached: 'max_claims',
  max_total_claims_reached: 'max_total_claims',
  spend_limit: 'spend_limit',
  insufficient_brand_balance: 'brand_funds',
};

/** A refusal as far as explanations rest on it: of a body that was refused, nothing may be kept. */
export function explainedRefusal(refusal: NonNullable<EventCase['refusal']>): EventCase['refusal'] {
  const { code } = refusal;
  const check = REFUSED_AT[code];
  return check === undefined || check === 'body' ? { code } : refusal;
}

export function explainEvent(event: EventCase): EventCheck[] {
  const refusedAt = event.refusal && REFUSED_AT[event.refusal.code];
  return explainChecks(CHECKS, refusedAt, {
    passed: (name) => passed(name, event),
    refused: () => refused(event),
  });
}

const instant = (ms: number) => new Date(ms).toISOString();
const limit = (value: number) => (isUnlimited(value) ? 'no limit' : `at most ${value}`);

function passed(name: CheckName, event: EventCase): Omit<EventCheck, 'name'> {
  const { submission, brand, rule, bypass, state, nowMs } = event;
  const ok = (text: string) => ({ outcome: 'ok' as const, text });
  const skipped = (text: string) => ({ outcome: 'skipped' as const, text });
  const lastAt = state?.counter?.lastAt;
  const ago =
    lastAt === undefined ? 'no earlier reward' : `last reward ${formatDuration(nowMs - lastAt)} ago`;
  switch (name) {
    case 'body':
      return ok(`${event.bodyBytes} of ${event.bodyLimitBytes} bytes, JSON`);
    case 'fields': {
      const user = submission?.userKey ?? '';
      const alias = event.aliasOf === undefined ? '' : `; ${user} is an alias of ${event.aliasOf}`;
      return ok(`${submission?.eventType ?? ''} for ${user}${alias}`);
    }
    case 'brand':
      return ok(brand?.name ?? submission?.brandId ?? '');
    case 'automation':
      return ok('on');
    case 'credential':
      return submission?.withBrandKey ? ok("the brand's key") : skipped('not needed for this event');
    case 'domain': {
      if (submission?.withBrandKey) return skipped("the request carries the brand's key");
      const host = submission && claimedHost(submission);
      if (host === undefined && brand?.profile.domainless === 'allow')
        return ok('the brand takes events without a domain');
      return ok(
        `${host ?? 'a chat platform'} belongs to ${brand?.profile.domains.join(', ') ?? 'the brand'}`,
      );
    }
    case 'event':
      return ok(
        `${checkInText(event) ?? `${rule?.eventType ?? ''} pays ${rule?.rewardAmount ?? '?'} RWT`}${whyNotByOrder(event)}`,
      );
    case 'channel': {
      const channels = rule?.detail.detectionConfig.channels;
      if (!channels?.length) return skipped('the event is not limited to channels');
      if (submission?.channel === undefined) return skipped('no channel given');
      return ok(`${submission.channel} is one of ${channels.join(', ')}`);
    }
    case 'duplicate':
      if (state?.once) return ok(`${state.once.field} ${state.once.value} was not rewarded before`);
      return ok(`${ago}, window ${formatDuration(event.duplicateWindowMs)}`);
    case 'cooldown':
      if (bypass?.cooldown) return skipped('the event skips the cooldown');
      return rule?.cooldownMs === 0
        ? skipped('the event has no cooldown')
        : ok(`${ago}, cooldown ${formatDuration(rule?.cooldownMs ?? 0)}`);
    case 'max_claims':
      if (bypass?.maxClaims) return skipped("the event's source skips this limit");
      return ok(`${state?.counter?.claims ?? 0} claims, ${limit(rule?.maxClaims ?? -1)}`);
    case 'max_total_claims':
      return ok(`${state?.totalClaims ?? 0} claims of all users, ${limit(rule?.maxTotalClaims ?? -1)}`);
    case 'spend_limit': {
      const spending = state?.spending ?? [];
      if (spending.length === 0) return ok('no limit');
      return ok(
        spending.map(({ span, spent, limit }) => `${spent} of ${limit} RWT in the ${span}`).join(', '),
      );
    }
    case 'brand_funds':
      return ok(`${state?.availableFunds ?? 0} RWT not promised yet`);
  }
}

/** What a check-in pays, whose rule's own reward does not count; undefined for any other event. */
function checkInText({ submission, brand, rule, state }: EventCase): string | undefined {
  if (!rule || !brand) return undefined;
  const worth = worthOf(rule, { submission, brand, state: state ?? {} });
  if (worth.checkInBase === undefined) return undefined;
  const isCheckIn = `${rule.eventType} is a check-in`;
  if (state?.streakMultiplier === undefined)
    return `${isCheckIn} and pays ${worth.checkInBase} RWT × the multiplier of the user's streak`;
  const amount = rewardAmount(rule, worth);
  return `${isCheckIn} and pays ${amount} RWT: ${worth.checkInBase} × ${state.streakMultiplier} of the user's streak`;
}

/** Why the event's order total counts for nothing although the rule pays per dollar; empty where it counts. */
function whyNotByOrder({ submission, brand, rule }: EventCase): string {
  if (!submission || !brand || !rule || !Object.hasOwn(submission.metadata, 'order_total')) return '';
  if (paysWithoutEnd(rule)) return ': order_total does not count until the rule has a maxReward';
  const paysByOrder = rule.detail.dynamic?.perUsd !== undefined;
  return paysByOrder && !amountsCount(submission, brand)
    ? ": order_total does not count without the brand's key"
    : '';
}

type Refused = Omit<EventCheck, 'name' | 'outcome'>;

function refused(event: EventCase): Refused {
  const refusal = event.refusal as
    | ScreeningRefusal
    | ClaimRefusal
    | { code: 'invalid_body' | 'body_too_large' };
  switch (refusal.code) {
    case 'body_too_large':
      return { text: `more than ${event.bodyLimitBytes} bytes`, passesAtMs: null, or: 'send less metadata' };
    case 'invalid_body':
      return { text: 'not the JSON of one event', passesAtMs: null, or: 'send one JSON object' };
    case 'invalid_event_data':
      return { text: refusal.errors.join('; '), passesAtMs: null, or: 'correct the named fields' };
    case 'brand_not_found':
      return {
        text: `no brand is registered under ${refusal.brandId}`,
        passesAtMs: null,
        or: 'rewards brand list',
      };
    case 'automation_disabled':
      return { text: 'off', passesAtMs: null, or: `rewards brand set ${refusal.brandId} automation=on` };
    case 'brand_key_required':
      return {
        text:
          refusal.what === 'events'
            ? 'the brand takes events with its key only (clientEvents is credential)'
            : 'the brand pays addresses with its key only (directAddresses is credential)',
        passesAtMs: null,
        or: "send the event from the brand's server, with its key",
      };
    case 'domain_not_authorized':
      return {
        text: `${refusal.host ?? 'no domain given'} is not ${refusal.configured.join(' or ')}, nor under it`,
        passesAtMs: null,
        or: wayFrom(refusal.host, refusal.configured[0]),
      };
    case 'event_not_found':
      return {
        text: `no active event ${refusal.eventType}`,
        passesAtMs: null,
        or: `rewards brand show ${refusal.brandId}`,
      };
    case 'channel_not_allowed':
      return {
        text: `${refusal.channel} is not one of ${refusal.allowed.join(', ')}`,
        passesAtMs: null,
        or: 'send the event from an allowed channel',
      };
    default:
      return refusedClaim(refusal, event);
  }
}

/** What stands against a claim that every check of the event itself let through. */
function refusedClaim(refusal: ClaimRefusal, event: EventCase): Refused {
  switch (refusal.code) {
    case 'duplicate':
      return {
        text: `event ${refusal.existingEventId} was accepted less than ${formatDuration(event.duplicateWindowMs)} ago`,
        passesAtMs: refusal.passesAtMs,
      };
    case 'already_rewarded': {
      const { field, value, previousReward } = refusal;
      const when = instant(previousReward.timestamp);
      return {
        text: `${field} ${value} was rewarded ${when}, by event ${previousReward.eventId}`,
        passesAtMs: null,
        or: `send another ${field}: the event is paid once for each`,
      };
    }
    case 'cooldown':
      return {
        text: `last reward ${instant(refusal.previousReward.timestamp)}, ${formatDuration(refusal.remainingMs)} of ${formatDuration(refusal.cooldownMs)} left`,
        passesAtMs: refusal.passesAtMs,
        ...(event.brand?.profile.clientBypass === 'allow' && { or: 'metadata.skip_cooldown=true' }),
      };
    case 'max_claims_reached':
      return {
        text: `${refusal.totalClaims} of ${refusal.maxClaims} claims used`,
        passesAtMs: null,
        or: 'raise maxClaims of the rule',
      };
    case 'max_total_claims_reached':
      return {
        text: `${refusal.totalClaims} of ${refusal.maxTotalClaims} claims of all users used`,
        passesAtMs: null,
        or: 'raise maxTotalClaims of the rule',
      };
    case 'spend_limit': {
      const { span, spent, limit, required, passesAtMs = null } = refusal;
      const setting = span === 'hour' ? 'spendPerHour' : 'spendPerDay';
      return {
        text: `${spent} of ${limit} RWT in the ${span}, ${required} needed`,
        passesAtMs,
        or: `raise ${setting} of the brand`,
      };
    }
    case 'insufficient_brand_balance':
      return {
        text: `${refusal.available} RWT left in escrow, ${refusal.required} needed`,
        passesAtMs: null,
        or: 'put RWT into the escrow: rewards brand fund <brand> <amount>',
      };
  }
}

/** How an event from a foreign host would pass: a page on this machine may say which domain it stands for. */
const wayFrom = (host: string | undefined, domain = '') =>
  host !== undefined && isLoopback(host)
    ? `name the brand's domain: data-domain="${domain}" on the page's script tag, or domain in the event`
    : "send the event from the brand's domain, or with the brand's key";

// Looks ahead: when a refused event would be rewarded if nothing but time changed.

/** A time in milliseconds, or the check at which waiting does not help. */
type Outlook = { atMs: number } | { never: CheckName; text: string };

/** Undefined for an event that no check refused. A duplicate, say, may wait for its window and then for its cooldown. */
export function whenItPasses(event: EventCase): Outlook | undefined {
  const { rule, state, bypass, submission, brand, duplicateWindowMs } = event;
  let refusal = event.refusal;
  let nowMs = event.nowMs;
  while (refusal && 'passesAtMs' in refusal && refusal.passesAtMs !== undefined && rule && state && bypass) {
    nowMs = refusal.passesAtMs;
    const amount = rewardAmount(rule, worthOf(rule, { submission, brand, state }));
    refusal = refuseClaim({ rule, state, bypass, amount, nowMs, duplicateWindowMs });
    if (!refusal) return { atMs: nowMs };
  }
  const check = explainEvent({ ...event, nowMs, refusal }).find(({ outcome }) => outcome === 'refused');
  return check && { never: check.name, text: check.text };
}
