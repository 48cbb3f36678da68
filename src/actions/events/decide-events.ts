/**
 * Decides a round of customer events and records the rewards of those that are granted, inside one commit: each
 * is judged against what the ledger holds, and the ledger's own conditions have the last word.
 */
import { domainsAbove } from '../../ledger/brands/brand-domains.ts';
import { readBrandsAndTime, readEventRules, ruleKey, type StoredBrand } from '../../ledger/brands/brands.ts';
import type { BusinessTime, Queries } from '../../ledger/database/database.ts';
import {
  claimKeyText,
  eventKeyText,
  readClaimCounters,
  readClaimTotals,
} from '../../ledger/rewards/claims.ts';
import { lockFundsAndAliases, readAvailableFunds } from '../../ledger/rewards/funds.ts';
import {
  type OnceClaim,
  type OnceKey,
  onceKeyText,
  readOnceClaims,
} from '../../ledger/rewards/once-claims.ts';
import { readSpending } from '../../ledger/rewards/spending.ts';
import { keysOfUsers } from '../../ledger/wallets/aliases.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Brand, type BrandId, type EventRule, isUnlimited } from '../../rules/brands/brand.ts';
import { hostsBelow } from '../../rules/brands/domain.ts';
import {
  type Bypass,
  type ClaimRefusal,
  type ClaimState,
  claimTerms,
  type Once,
  onceOf,
  refuseClaim,
} from '../../rules/events/claim-policy.ts';
import { paysByStreak, rewardAmount, worthOf } from '../../rules/events/reward-amount.ts';
import {
  bypassOf,
  type EventSubmission,
  namedType,
  refuseSubmission,
  type ScreeningRefusal,
  underOwnType,
} from '../../rules/events/submission.ts';
import { learnAliases } from '../brands/alias-users.ts';
import {
  type GrantedReward,
  type GrantToRecord,
  limitsOf,
  Overtaken,
  recordGrants,
} from '../rewards/record-grants.ts';
import { paidToOurselves, walletsOfPayees } from '../rewards/refuse-own-accounts.ts';

export interface DecideDeps {
  clock: Clock;
  /** Read in the commit: what every limit by time is decided by. */
  businessTime: BusinessTime;
  /** The address at a place of the operator's key tree. */
  addressAt: (index: number) => `0x${string}`;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
  /** Its contracts and accounts, and the zero address, in lower case: no reward goes there. */
  ownAddresses: ReadonlySet<string>;
  /** The domain below which chat platforms have names. */
  ownDomain?: string | undefined;
  duplicateWindowMs: number;
  /** What the streaks of these users multiply rewards by, in their order; asked only for rules that pay by streak. Without it, every multiplier is 1. */
  streakMultipliers?: (
    tx: Queries,
    of: { users: { brand: Brand; userKey: string }[]; nowMs: number },
  ) => Promise<number[]>;
}

/** An event to decide. */
export interface EventToDecide {
  submission: EventSubmission;
  /** The id that the reward gets. */
  rewardId: string;
}

/** What a decision was based on, up to the check that refused. */
interface Grounds {
  nowMs: number;
  /** The user whose alias the event named, as far as that was looked up. */
  aliasOf?: string | undefined;
  brand?: Brand | undefined;
  rule?: EventRule | undefined;
  bypass?: Bypass | undefined;
  state?: ClaimState | undefined;
  /** RWT, as far as the counting checks were reached. */
  amount?: number | undefined;
}

export type EventDecision = Grounds &
  ({ granted: GrantedReward } | { refusal: ScreeningRefusal | ClaimRefusal | BusyRefusal | TakenRefusal });

/** The brand's row was locked for longer than an event waits; nothing was written. */
export interface BusyRefusal {
  code: 'database_busy';
}

/** A reward of the event's id is in the ledger: of another try of its request, or, where it has no key, of another event. */
export interface TakenRefusal {
  code: 'reward_id_taken';
}

/** The user whom an event means that named an alias of theirs. */
const aliasOf = ({ event, submission }: Candidate) =>
  event.submission.userKey === submission.userKey ? undefined : submission.userKey;

/** An event that passed the configured checks and awaits the counting ones. */
interface Candidate {
  /** As it came. */
  event: EventToDecide;
  /** Under the type of its event, and of the user whom it means. */
  submission: EventSubmission;
  /** Further names under which the ledger has the user. */
  aliases: readonly string[];
  brand: StoredBrand;
  rule: EventRule;
  bypass: Bypass;
  /** What it is paid once for, where its rule says so. */
  once: Once | undefined;
}

/** A candidate that may be paid, with what the ledger holds its grant to. */
interface Grant extends GrantToRecord {
  candidate: Candidate;
  state: ClaimState;
}

/** The decisions so far of events that are decided together, and the candidates among them. */
interface Round {
  candidates: Candidate[];
  decisions: Map<EventToDecide, EventDecision>;
  nowMs: number;
}

/**
 * Decides these events and returns the decisions; an event whose claim key was granted to another event of the
 * round gets no decision and goes into the next round.
 */
export async function decideRound(
  deps: DecideDeps,
  tx: Queries,
  events: EventToDecide[],
): Promise<Map<EventToDecide, EventDecision>> {
  const screened = await screen(deps, tx, events);
  await grantCandidates(deps, tx, screened);
  return screened.decisions;
}

/** An event as it would be decided now: granted with its amount, or refused. */
export type EventOutlook = Grounds & { refusal?: ScreeningRefusal | ClaimRefusal | undefined };

/** Judges one event as `decideRound` would, but locks and writes nothing. */
export async function lookAtEvent(
  deps: DecideDeps,
  db: Queries,
  submission: EventSubmission,
): Promise<EventOutlook> {
  const screened = await screen(deps, db, [{ submission, rewardId: '' }], { isQuestion: true });
  const { decisions, nowMs } = screened;
  const { candidates } = await forUsers(deps, db, screened);
  const readFunds = (tx: Queries, brands: StoredBrand[]) =>
    readAvailableFunds(
      tx,
      brands.map(({ brandId }) => brandId),
    );
  const round = { candidates, decisions, nowMs, readFunds };
  const [grant] = candidates.length > 0 ? await judge(deps, db, round) : [];
  if (grant) {
    const { brand, rule, bypass } = grant.candidate;
    return { nowMs, brand, rule, bypass, state: grant.state, amount: grant.amount };
  }
  const [decision] = decisions.values();
  if (!decision || !('refusal' in decision)) throw new Error('an event was neither granted nor refused');
  const { refusal } = decision;
  if (refusal.code === 'database_busy' || refusal.code === 'reward_id_taken')
    throw new Error('an event that was only looked at met another');
  return { ...decision, refusal };
}

/** Judges the candidates, records the rewards of those that are granted, and adds all their decisions. */
async function grantCandidates(deps: DecideDeps, tx: Queries, round: Round): Promise<void> {
  const { decisions, nowMs } = round;
  const { candidates, wallets } = await forUsers(deps, tx, round);
  if (candidates.length === 0) return;
  const grants = await judge(deps, tx, { candidates, decisions, nowMs });
  if (grants.length === 0) return;
  const rewards = await recordGrants(deps, tx, { grants, wallets, nowMs });
  for (const [place, granted] of rewards.entries()) {
    const { candidate, state } = grants[place] as Grant;
    const { event, brand, rule, bypass } = candidate;
    decisions.set(event, { nowMs, aliasOf: aliasOf(candidate), brand, rule, bypass, state, granted });
  }
}

/** A candidate that passed, under the terms of its rule. */
function grantOf(
  candidate: Candidate,
  judged: { amount: number; state: ClaimState; nowMs: number; duplicateWindowMs: number },
): Grant {
  const { amount, state, nowMs, duplicateWindowMs } = judged;
  const { event, submission, brand, rule, bypass, once } = candidate;
  const { eventType, userKey, userEmail, userAddress, metadata, platform } = submission;
  const { claimsBelow, lastAtMost } = claimTerms({
    rule,
    bypass,
    nowMs,
    duplicateWindowMs,
    isOncePer: once !== undefined,
  });
  return {
    candidate,
    state,
    rewardId: event.rewardId,
    brand,
    eventType,
    userKey,
    userEmail,
    userAddress,
    metadata,
    platform,
    amount,
    claimsBelow,
    lastAtMost,
    once,
    maxTotalClaims: isUnlimited(rule.maxTotalClaims) ? Number.MAX_SAFE_INTEGER : rule.maxTotalClaims,
  };
}

/**
 * Runs the checks that need no counting: a refused event is decided here, the others become candidates. `isQuestion`:
 * nothing is written, so no alias is learnt of it.
 */
async function screen(
  deps: DecideDeps,
  tx: Queries,
  events: EventToDecide[],
  { isQuestion = false } = {},
): Promise<Round> {
  const { ownHosts, ownDomain } = deps;
  const brandIds = [...new Set(events.map(({ submission }) => submission.brandId))];
  const { brands, nowMs = deps.clock.now() } = await readBrandsAndTime(tx, {
    brandIds,
    now: deps.businessTime(),
  });
  const eventTypes = new Set<string>();
  const hosts: string[] = [];
  for (const { submission } of events) {
    const brand = brands.get(submission.brandId);
    eventTypes.add(submission.eventType);
    eventTypes.add(namedType(brand, submission.eventType) ?? submission.eventType);
    hosts.push(...hostsBelow(submission, brand));
  }
  const rules = await readEventRules(tx, { brandIds, eventTypes: [...eventTypes] });
  const domains = await domainsAbove(tx, hosts);
  const decisions = new Map<EventToDecide, EventDecision>();
  const candidates: Candidate[] = [];
  for (const event of events) {
    const { brandId } = event.submission;
    const brand = brands.get(brandId);
    const isType = (eventType: string) => rules.has(ruleKey({ brandId, eventType }));
    const submission = underOwnType(event.submission, { brand, isType });
    const rule = rules.get(ruleKey(submission));
    const otherDomains = domains.flatMap((one) => (one.brandId === brandId ? [] : one.domain));
    const { once, refusal } = judgeAlone(submission, {
      brand,
      rule,
      ownHosts,
      ownDomain,
      otherDomains,
    });
    if (refusal) decisions.set(event, { nowMs, brand, rule, refusal });
    else if (brand && rule)
      candidates.push({
        event,
        submission,
        aliases: [],
        brand,
        rule,
        once,
        bypass: bypassOf(submission, brand),
      });
  }
  if (!isQuestion) await learnAliases(tx, { events: candidates, ownDomain, nowMs });
  return { candidates: await asUsers(tx, candidates), decisions, nowMs };
}

/** The candidates under the users whom they mean; asks nothing for brands without aliases. */
async function asUsers(tx: Queries, candidates: Candidate[]): Promise<Candidate[]> {
  const named = candidates.filter(({ brand, submission }) => brand.aliases && !submission.userAddress);
  if (named.length === 0) return candidates;
  const keysOf = await keysOfUsers(
    tx,
    named.map(({ submission }) => submission),
  );
  const meant = new Set(named);
  return candidates.map((candidate) => {
    if (!meant.has(candidate)) return candidate;
    const [userKey, ...aliases] = keysOf(candidate.submission);
    const submission = { ...candidate.submission, userKey, userEmail: userKey };
    return { ...candidate, submission, aliases };
  });
}

/** What an event is refused for by itself, or what it is paid once for. */
function judgeAlone(
  submission: EventSubmission,
  screening: Parameters<typeof refuseSubmission>[1],
): { once?: Once | undefined; refusal?: ScreeningRefusal | undefined } {
  const refusal = refuseSubmission(submission, screening);
  const field = screening.rule?.detail.oncePer;
  if (refusal || field === undefined) return { refusal };
  const read = onceOf(field, submission.metadata);
  if ('once' in read) return read;
  // Cooldown and limits judge an event that is about no order.
  return read.missing ? {} : { refusal: { code: 'invalid_event_data', errors: [read.problem] } };
}

const TO_OURSELVES =
  'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address';

/** The candidates whose reward a user gets, and the wallets that users have; all others are refused. */
async function forUsers({ ownAddresses }: DecideDeps, tx: Queries, round: Round) {
  const { decisions, nowMs } = round;
  const users = round.candidates.map(({ submission }) => submission);
  const wallets = await walletsOfPayees(tx, users);
  const toOurselves = await paidToOurselves(tx, { users, wallets, ownAddresses });
  const candidates = round.candidates.filter((candidate) => {
    const { event, submission, brand, rule } = candidate;
    if (!toOurselves.has(submission)) return true;
    const refusal = { code: 'invalid_event_data' as const, errors: [TO_OURSELVES] };
    decisions.set(event, { nowMs, aliasOf: aliasOf(candidate), brand, rule, refusal });
    return false;
  });
  return { candidates, wallets };
}

/** Judges candidates in their order, each as if those before it had been paid already. */
async function judge(
  deps: DecideDeps,
  tx: Queries,
  round: Round & { readFunds?: typeof lockFundsOf },
): Promise<Grant[]> {
  const { candidates, decisions, nowMs, readFunds = lockFundsOf } = round;
  const { duplicateWindowMs } = deps;
  const keys = candidates.flatMap(keysOf);
  // The lock on a brand's row of funds lets one process at a time decide the brand's events, so what is
  // read from here on stays true until the commit. The conditional writes below check it once more.
  const funds = await readFunds(tx, [...new Set(candidates.map(({ brand }) => brand))]);
  const counters = await readClaimCounters(tx, keys);
  const totals = await readClaimTotals(tx, keys);
  const paidOnce = await readOnceClaims(tx, candidates.flatMap(onceKeysOf));
  const multipliers = await streakMultipliers(deps, tx, { candidates, nowMs });
  const spending = await readSpending(tx, { brands: limitsOf(candidates), nowMs });

  const grants: Grant[] = [];
  const granted = new Set<string>();
  for (const candidate of candidates) {
    const { event, submission, brand, rule, bypass } = candidate;
    const key = claimKeyText(submission);
    if (granted.has(key)) continue;
    const eventKey = eventKeyText(submission);
    const state: ClaimState = {
      counter: summedCounter(keysOf(candidate).map((one) => counters.get(claimKeyText(one)))),
      totalClaims: totals.get(eventKey) ?? 0,
      availableFunds: funds.get(submission.brandId) ?? 0,
      spending: spending.get(submission.brandId),
      once: onceStateOf(candidate, paidOnce),
      streakMultiplier: multipliers.get(key),
    };
    const amount = rewardAmount(rule, worthOf(rule, { submission, brand, state }));
    const refusal = refuseClaim({ rule, state, bypass, amount, nowMs, duplicateWindowMs });
    if (refusal) {
      const owner = aliasOf(candidate);
      decisions.set(event, { nowMs, aliasOf: owner, brand, rule, bypass, state, amount, refusal });
      continue;
    }
    granted.add(key);
    totals.set(eventKey, state.totalClaims + 1);
    funds.set(submission.brandId, state.availableFunds - amount);
    const windows = state.spending?.map((window) => ({ ...window, spent: window.spent + amount }));
    if (windows) spending.set(submission.brandId, windows);
    grants.push(grantOf(candidate, { amount, state, nowMs, duplicateWindowMs }));
  }
  return grants;
}

/** Under each name of the user; none for an event that is not paid once for a thing. */
const onceKeysOf = (candidate: Candidate): OnceKey[] => {
  const { once } = candidate;
  return once ? keysOf(candidate).map((key) => ({ ...key, field: once.field, value: once.value })) : [];
};

/** Undefined for an event that is not paid once for a thing. */
function onceStateOf(candidate: Candidate, paidOnce: Map<string, OnceClaim>): ClaimState['once'] {
  const { once } = candidate;
  if (!once) return undefined;
  const claims = onceKeysOf(candidate).map((key) => paidOnce.get(onceKeyText(key)));
  return { ...once, claim: claims.find((claim) => claim !== undefined) };
}

/** The claim under each name of the user. */
const keysOf = ({ submission, aliases }: Candidate) => {
  const { brandId, eventType, userKey } = submission;
  return [userKey, ...aliases].map((key) => ({ brandId, eventType, userKey: key }));
};

/** What a user has claimed under all their names, with the last of those claims; undefined without any. */
function summedCounter(counters: (ClaimState['counter'] | undefined)[]): ClaimState['counter'] {
  const found = counters.filter((one) => one !== undefined);
  const [first, ...others] = found;
  return others.reduce((sum, one) => {
    if (!sum) return one;
    const last = one.lastAt > sum.lastAt ? one : sum;
    return { ...last, claims: sum.claims + one.claims };
  }, first);
}

/**
 * Locks the money of these brands. Throws `Overtaken` where the aliases of a brand's users were changed after they were read:
 * what was granted under another name of a user would not be seen.
 */
async function lockFundsOf(tx: Queries, brands: StoredBrand[]): Promise<Map<BrandId, number>> {
  const { funds, aliases } = await lockFundsAndAliases(
    tx,
    brands.map(({ brandId }) => brandId),
  );
  if (brands.some((brand) => (aliases.get(brand.brandId) ?? 0) !== (brand.aliases ?? 0)))
    throw new Overtaken();
  return funds;
}

/** The multipliers of candidates that are paid by streak, by claim key. */
async function streakMultipliers(
  deps: DecideDeps,
  tx: Queries,
  { candidates, nowMs }: { candidates: Candidate[]; nowMs: number },
): Promise<Map<string, number>> {
  const asking = candidates.filter(({ brand, rule }) => paysByStreak(rule, brand));
  if (asking.length === 0 || !deps.streakMultipliers) return new Map();
  const users = asking.map(({ brand, submission }) => ({ brand, userKey: submission.userKey }));
  const multipliers = await deps.streakMultipliers(tx, { users, nowMs });
  return new Map(
    asking.map(({ submission }, place) => [claimKeyText(submission), multipliers[place] ?? 1] as const),
  );
}
