/**
 * Decides a round of customer events and records the rewards of those that are granted, inside one commit: each
 * is judged against what the ledger holds, and the ledger's own conditions have the last word.
 */
import { domainsAbove } from '../../ledger/brands/brand-domains.ts';
import { readBrandsAndTime, readEventRules, ruleKey } from '../../ledger/brands/brands.ts';
import { takeNumbers } from '../../ledger/counters.ts';
import type { BusinessTime, Queries } from '../../ledger/database/database.ts';
import {
  addClaimTotal,
  claimKeyText,
  eventKeyText,
  readClaimCounters,
  readClaimTotals,
  takeClaims,
} from '../../ledger/rewards/claims.ts';
import { lockAvailableFunds, promiseFunds } from '../../ledger/rewards/funds.ts';
import { recordRewards } from '../../ledger/rewards/rewards.ts';
import { readSpending, takeSpending } from '../../ledger/rewards/spending.ts';
import { ensureWallets } from '../../ledger/wallets/wallets.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Brand, type BrandId, type EventRule, isUnlimited } from '../../rules/brands/brand.ts';
import { hostsBelow } from '../../rules/brands/domain.ts';
import {
  type Bypass,
  type ClaimRefusal,
  type ClaimState,
  claimTerms,
  refuseClaim,
} from '../../rules/events/claim-policy.ts';
import { amountsCount, rewardAmount } from '../../rules/events/reward-amount.ts';
import { type SpendLimit, spendLimits } from '../../rules/events/spend-limit.ts';
import {
  bypassOf,
  type EventSubmission,
  namedType,
  refuseSubmission,
  type ScreeningRefusal,
  underOwnType,
} from '../../rules/events/submission.ts';
import { paidToOurselves } from './refuse-own-accounts.ts';

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
  /** The multipliers of users' streaks, by claim key; without it, every multiplier is 1. */
  streakMultipliers?: (tx: Queries, claims: EventSubmission[]) => Promise<Map<string, number>>;
}

/** An event to decide. */
export interface EventToDecide {
  submission: EventSubmission;
  /** The id that the reward gets. */
  rewardId: string;
}

/** A reward that is in the ledger and will be paid. */
export interface GrantedReward {
  rewardId: string;
  sequence: number;
  brandId: BrandId;
  eventType: string;
  amount: number;
  wallet: `0x${string}`;
  walletCreated: boolean;
}

/** What a decision was based on, up to the check that refused. */
interface Grounds {
  nowMs: number;
  brand?: Brand | undefined;
  rule?: EventRule | undefined;
  bypass?: Bypass | undefined;
  state?: ClaimState | undefined;
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

/** Another process changed what a decision was based on: nothing was written, and the round is decided again. */
export class Overtaken extends Error {
  override name = 'Overtaken';
}

/** An event that passed the configured checks and awaits the counting ones. */
interface Candidate {
  event: EventToDecide;
  brand: Brand;
  rule: EventRule;
  bypass: Bypass;
}

/** A candidate that may be paid. */
interface Grant extends Candidate {
  amount: number;
  state: ClaimState;
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
  const { candidates, decisions, asked, nowMs } = await screen(deps, tx, events);
  await grantCandidates(deps, tx, { candidates, decisions, nowMs });
  return new Map([...decisions].map(([event, decision]) => [asked.get(event) ?? event, decision]));
}

/** Judges the candidates, records the rewards of those that are granted, and adds all their decisions. */
async function grantCandidates(
  deps: DecideDeps,
  tx: Queries,
  round: { candidates: Candidate[]; decisions: Map<EventToDecide, EventDecision>; nowMs: number },
): Promise<void> {
  const { decisions, nowMs } = round;
  const candidates = await forUsers(deps, tx, round);
  if (candidates.length === 0) return;
  const grants = await judge(deps, tx, { candidates, decisions, nowMs });
  if (grants.length === 0) return;

  await countClaims(deps, tx, { grants, nowMs });
  await countTotals(tx, grants);
  await promiseAmounts(tx, grants);
  await countSpending(tx, { grants, nowMs });
  const rewards = await writeRewards(deps, tx, { grants, nowMs });
  for (const [place, { event, brand, rule, bypass, state }] of grants.entries()) {
    const granted = rewards[place];
    if (granted) decisions.set(event, { nowMs, brand, rule, bypass, state, granted });
  }
}

/**
 * Runs the checks that need no counting: a refused event is decided here, the others become candidates. `asked` gives
 * for each event of these, which stands under its own type, the event as it came.
 */
async function screen(deps: DecideDeps, tx: Queries, events: EventToDecide[]) {
  const brandIds = [...new Set(events.map(({ submission }) => submission.brandId))];
  const { brands, nowMs = deps.clock.now() } = await readBrandsAndTime(tx, {
    brandIds,
    now: deps.businessTime(),
  });
  const named = events.flatMap(({ submission: { brandId, eventType } }) => [
    eventType,
    namedType(brands.get(brandId), eventType) ?? eventType,
  ]);
  const eventTypes = [...new Set(named)];
  const rules = await readEventRules(tx, { brandIds, eventTypes });
  const hosts = events.flatMap(({ submission }) => hostsBelow(submission, brands.get(submission.brandId)));
  const domains = await domainsAbove(tx, hosts);
  const decisions = new Map<EventToDecide, EventDecision>();
  const candidates: Candidate[] = [];
  const asked = new Map<EventToDecide, EventToDecide>();
  for (const one of events) {
    const brand = brands.get(one.submission.brandId);
    const isType = (eventType: string) => rules.has(ruleKey({ ...one.submission, eventType }));
    const submission = underOwnType(one.submission, { brand, isType });
    const event = { ...one, submission };
    asked.set(event, one);
    const rule = rules.get(ruleKey(submission));
    const others = domains.filter(({ brandId }) => brandId !== submission.brandId);
    const otherDomains = others.map(({ domain }) => domain);
    const refusal = refuseSubmission(submission, { ...deps, brand, rule, otherDomains });
    if (refusal) decisions.set(event, { nowMs, brand, rule, refusal });
    else if (brand && rule) candidates.push({ event, brand, rule, bypass: bypassOf(submission, brand) });
  }
  return { candidates, decisions, asked, nowMs };
}

const TO_OURSELVES =
  'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address';

/** The candidates whose reward a user gets; all others are refused. */
async function forUsers(
  { ownAddresses }: DecideDeps,
  tx: Queries,
  round: { candidates: Candidate[]; decisions: Map<EventToDecide, EventDecision>; nowMs: number },
): Promise<Candidate[]> {
  const { candidates, decisions, nowMs } = round;
  const submissions = candidates.map(({ event }) => event.submission);
  const toOurselves = await paidToOurselves(tx, { submissions, ownAddresses });
  return candidates.filter(({ event, brand, rule }) => {
    if (!toOurselves.has(event.submission)) return true;
    const refusal = { code: 'invalid_event_data' as const, errors: [TO_OURSELVES] };
    decisions.set(event, { nowMs, brand, rule, refusal });
    return false;
  });
}

/** Judges candidates in their order, each as if those before it had been paid already. */
async function judge(
  deps: DecideDeps,
  tx: Queries,
  round: { candidates: Candidate[]; decisions: Map<EventToDecide, EventDecision>; nowMs: number },
): Promise<Grant[]> {
  const { candidates, decisions, nowMs } = round;
  const keys = candidates.map(({ event }) => event.submission);
  // The lock on a brand's row of funds lets one process at a time decide the brand's events, so what is
  // read from here on stays true until the commit. The conditional writes below check it once more.
  const funds = await lockAvailableFunds(tx, [...new Set(keys.map(({ brandId }) => brandId))]);
  const counters = await readClaimCounters(tx, keys);
  const totals = await readClaimTotals(tx, keys);
  const multipliers = await streakMultipliers(deps, tx, candidates);
  const spending = await readSpending(tx, { brands: limitsOf(candidates), nowMs });

  const grants: Grant[] = [];
  const granted = new Set<string>();
  for (const candidate of candidates) {
    const { event, brand, rule, bypass } = candidate;
    const { submission } = event;
    const key = claimKeyText(submission);
    if (granted.has(key)) continue;
    const eventKey = eventKeyText(submission);
    const state: ClaimState = {
      counter: counters.get(key),
      totalClaims: totals.get(eventKey) ?? 0,
      availableFunds: funds.get(submission.brandId) ?? 0,
      spending: spending.get(submission.brandId),
    };
    const grounds: Grounds = { nowMs, brand, rule, bypass, state };
    const amount = rewardAmount(rule, {
      metadata: submission.metadata,
      amountsCount: amountsCount(submission, brand),
      streakMultiplier: multipliers.get(key) ?? 1,
    });
    const { duplicateWindowMs } = deps;
    const refusal = refuseClaim({ rule, state, bypass, amount, nowMs, duplicateWindowMs });
    if (refusal) {
      decisions.set(event, { ...grounds, refusal });
      continue;
    }
    granted.add(key);
    totals.set(eventKey, state.totalClaims + 1);
    funds.set(submission.brandId, state.availableFunds - amount);
    const windows = state.spending?.map((window) => ({ ...window, spent: window.spent + amount }));
    if (windows) spending.set(submission.brandId, windows);
    grants.push({ ...candidate, amount, state });
  }
  return grants;
}

/** The multipliers of candidates whose rule asks for one, by claim key. */
async function streakMultipliers(
  deps: DecideDeps,
  tx: Queries,
  candidates: Candidate[],
): Promise<Map<string, number>> {
  const asking = candidates.filter(({ rule }) => rule.detail.dynamic?.multiplier === 'streak');
  if (asking.length === 0 || !deps.streakMultipliers) return new Map();
  return deps.streakMultipliers(
    tx,
    asking.map(({ event }) => event.submission),
  );
}

/** Counts each user's claim under the terms on which it was granted. */
async function countClaims(
  deps: DecideDeps,
  tx: Queries,
  { grants, nowMs }: { grants: Grant[]; nowMs: number },
) {
  const { duplicateWindowMs } = deps;
  const taken = await takeClaims(
    tx,
    grants.map(({ event, rule, bypass, amount }) => {
      const { brandId, eventType, userKey } = event.submission;
      const terms = claimTerms({ rule, bypass, nowMs, duplicateWindowMs });
      return { brandId, eventType, userKey, rewardId: event.rewardId, amount, nowMs, ...terms };
    }),
  );
  if (taken.size !== grants.length) throw new Overtaken();
}

/** Counts the grants of each event, always in the same order, so that processes cannot deadlock. */
async function countTotals(tx: Queries, grants: Grant[]): Promise<void> {
  const events = new Map<
    string,
    { brandId: BrandId; eventType: string; claims: number; maxTotalClaims: number }
  >();
  for (const { event, rule } of grants) {
    const { brandId, eventType } = event.submission;
    const key = eventKeyText({ brandId, eventType });
    const maxTotalClaims = isUnlimited(rule.maxTotalClaims) ? Number.MAX_SAFE_INTEGER : rule.maxTotalClaims;
    const claims = (events.get(key)?.claims ?? 0) + 1;
    events.set(key, { brandId, eventType, claims, maxTotalClaims });
  }
  for (const [, total] of [...events].sort(byKey)) {
    if (!(await addClaimTotal(tx, total))) throw new Overtaken();
  }
}

/** Sets the rewards' amounts aside, brand by brand. */
async function promiseAmounts(tx: Queries, grants: Grant[]): Promise<void> {
  for (const [brandId, amount] of amountsOf(grants)) {
    if (!(await promiseFunds(tx, { brandId, amount }))) throw new Overtaken();
  }
}

/** The brands of these events, each with the limits that it has set. */
function limitsOf(events: { brand: Brand }[]): { brandId: BrandId; limits: SpendLimit[] }[] {
  const brands = new Map(events.map(({ brand }) => [brand.brandId, brand]));
  return [...brands.values()].map(({ brandId, profile }) => ({ brandId, limits: spendLimits(profile) }));
}

/** Counts the rewards in the windows of their brands' spend limits, always in the same order. */
async function countSpending(
  tx: Queries,
  { grants, nowMs }: { grants: Grant[]; nowMs: number },
): Promise<void> {
  const amounts = amountsOf(grants);
  const limited = new Map(limitsOf(grants).map(({ brandId, limits }) => [brandId, limits]));
  for (const [brandId, amount] of amounts) {
    for (const limit of limited.get(brandId) ?? []) {
      if (!(await takeSpending(tx, { ...limit, brandId, amount, nowMs }))) throw new Overtaken();
    }
  }
}

/** What the grants of each brand come to, brands always in the same order. */
function amountsOf(grants: Grant[]): [BrandId, number][] {
  const amounts = new Map<BrandId, number>();
  for (const { event, amount } of grants) {
    const { brandId } = event.submission;
    amounts.set(brandId, (amounts.get(brandId) ?? 0) + amount);
  }
  return [...amounts].sort(byKey);
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** Gives wallets and sequence numbers, and writes the rewards; in the order of the grants. */
async function writeRewards(
  deps: DecideDeps,
  tx: Queries,
  { grants, nowMs }: { grants: Grant[]; nowMs: number },
): Promise<GrantedReward[]> {
  const withoutAddress = grants.filter(({ event }) => !event.submission.userAddress);
  const userKeys = [...new Set(withoutAddress.map(({ event }) => event.submission.userKey))];
  const wallets = await ensureWallets(tx, { userKeys, addressAt: deps.addressAt, nowMs });
  const firstSequence = await takeNumbers(tx, 'reward_sequence', grants.length);
  const rows = grants.map(({ event, amount }, place) => {
    const { brandId, eventType, userKey, userEmail = null, userAddress, metadata } = event.submission;
    const own = wallets.get(userKey);
    const wallet = userAddress ?? own?.address;
    if (!wallet) throw new Error('a user was left without a wallet');
    const walletCreated = !userAddress && own?.created === true;
    // Only the first of several rewards in this commit tells of the new wallet.
    if (own) own.created = false;
    const sequence = firstSequence + place;
    const what = { brandId, eventType, userKey, userEmail, wallet, walletCreated, amount, metadata };
    return { sequence, id: event.rewardId, ...what, createdAt: nowMs };
  });
  await recordRewards(tx, rows);
  return rows.map(({ id, sequence, brandId, eventType, amount, wallet, walletCreated }) => {
    return { rewardId: id, sequence, brandId, eventType, amount, wallet, walletCreated };
  });
}
