/** Events that are decided together: each against what the ledger holds, and each as if those before it had been paid. */
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeBrand, changeRule } from '../../src/actions/brands/manage-brands.ts';
import { createEventSubmitter, type SubmitEventsDeps } from '../../src/actions/events/batch-events.ts';
import type { EventDecision } from '../../src/actions/events/decide-events.ts';
import { raiseEventAlarms } from '../../src/actions/events/event-alarms.ts';
import { readEventConfig } from '../../src/actions/events/read-event-config.ts';
import { readEventState } from '../../src/actions/events/read-event-state.ts';
import { createAlarms } from '../../src/chain/alarms.ts';
import { linkProvenDomain } from '../../src/ledger/brands/brand-domains.ts';
import { takeNumbers } from '../../src/ledger/counters.ts';
import { bindRewards, failRewards, findReward } from '../../src/ledger/rewards/rewards.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { leaseLane } from '../../src/ledger/transactions/lanes.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { findWallets } from '../../src/ledger/wallets/wallets.ts';
import type { Settings } from '../../src/rules/brands/settings.ts';
import type { EventSubmission } from '../../src/rules/events/submission.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const HOUR = 3_600_000;
const ownAddress = `0x${'ee'.repeat(20)}` as const;
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** Decides one or many, as a process that has just started. */
function submitter(change: Partial<SubmitEventsDeps> = {}) {
  const points: string[] = [];
  const { submit, idle } = createEventSubmitter({
    ...ledger,
    ownHosts: ['rewards.example'],
    ownAddresses: new Set([ownAddress]),
    duplicateWindowMs: 60_000,
    batchMax: 100,
    triesMax: 3,
    crash: (point) => void points.push(point),
    ...change,
  });
  return { submit, idle, points };
}

/** A brand with a rule `visit`, and the maker of its events. */
async function shop(rule: Settings = {}, brand: Settings & { deposit?: number } = {}) {
  const { brandId, domain } = await someBrand(ledger, { deposit: 1_000, ...brand });
  await changeRule(ledger, { name: brandId, eventType: 'visit' }, { reward: 10, ...rule });
  const event = (change: Partial<EventSubmission> = {}) => {
    const userKey = `${freshKey('user')}@demo.example`;
    const submission: EventSubmission = {
      brandId,
      eventType: 'visit',
      userKey,
      userEmail: userKey,
      userAddress: undefined,
      channel: undefined,
      skipCooldown: false,
      metadata: {},
      withBrandKey: false,
      domain,
      ...change,
    };
    return { submission, rewardId: ledger.random.uuid() };
  };
  return { brandId, domain, event };
}

const decide = (
  events: { submission: EventSubmission; rewardId: string }[],
  change?: Partial<SubmitEventsDeps>,
) => {
  const { submit } = submitter(change);
  return Promise.all(events.map((event) => submit(event)));
};
const shortly = (decision: EventDecision | undefined) =>
  decision && ('granted' in decision ? decision.granted.amount : decision.refusal.code);

describe('an event that is granted', () => {
  test('is in the ledger with its wallet, and the decision says on what it was based', async () => {
    const { brandId, event } = await shop();
    const [first, again] = [event(), event()];
    const [decision, second] = await decide([first, again]);
    const { userKey } = first.submission;
    const wallet = (await findWallets(ledger.database.db, [userKey])).get(userKey)?.address;
    if (!decision || !('granted' in decision) || !second || !('granted' in second))
      throw new Error('refused');
    expect(decision).toMatchObject({
      nowMs: ledger.clock.now(),
      brand: { brandId },
      rule: { eventType: 'visit' },
      bypass: { cooldown: false, maxClaims: false },
      state: { counter: undefined, totalClaims: 0, availableFunds: 1_000 },
      granted: {
        rewardId: first.rewardId,
        brandId,
        eventType: 'visit',
        amount: 10,
        wallet,
        walletCreated: true,
      },
    });
    expect(second).toMatchObject({ state: { totalClaims: 1, availableFunds: 990 } });
    expect(second.granted.sequence).toBe(decision.granted.sequence + 1);
    expect(await takeNumbers(ledger.database.db, 'reward_sequence', 1)).toBe(second.granted.sequence + 1);
    const found = await findReward(ledger.database.db, first.rewardId);
    expect(found?.reward).toMatchObject({
      id: first.rewardId,
      sequence: decision.granted.sequence,
      brandId,
      userKey,
      amount: 10,
      wallet,
      userEmail: userKey,
      walletCreated: true,
      metadata: {},
      createdAt: ledger.clock.now(),
    });
  });

  test('is counted with its own event, and its amount is set aside', async () => {
    const { brandId, event } = await shop({ cooldown: 0, maxClaims: 'unlimited' });
    await changeRule(ledger, { name: brandId, eventType: 'share' }, { reward: 5 });
    const both = () => [event(), event({ eventType: 'share' })];
    const stateOf = (decisions: EventDecision[]) =>
      decisions.map(({ state }) => [state?.totalClaims, state?.availableFunds]);
    expect(stateOf(await decide(both()))).toEqual([
      [0, 1_000],
      [0, 990],
    ]);
    expect(stateOf(await decide(both()))).toEqual([
      [1, 985],
      [1, 975],
    ]);
  });

  test('at an address of the user makes no wallet; a second one of the same user is not the first', async () => {
    const { event } = await shop({ cooldown: 0, maxClaims: 'unlimited' });
    const userAddress = freshAddress();
    const [direct] = await decide([event({ userKey: userAddress, userEmail: undefined, userAddress })]);
    expect(direct).toMatchObject({ granted: { wallet: userAddress, walletCreated: false } });
    expect((await findWallets(ledger.database.db, [userAddress])).size).toBe(0);
    const { event: other } = await shop({ reward: 7 });
    const known = event();
    const elsewhere = other({ userKey: known.submission.userKey });
    const [one, two] = await decide([known, elsewhere]);
    expect([one, two]).toMatchObject([
      { granted: { walletCreated: true } },
      { granted: { walletCreated: false } },
    ]);
    ledger.clock.advance(60_000);
    const [later] = await decide([event({ userKey: known.submission.userKey })]);
    expect(later).toMatchObject({ granted: { walletCreated: false } });
  });

  test('passes the points of a commit at which a process may end', async () => {
    const { event } = await shop();
    const { submit, points } = submitter();
    await submit(event());
    expect(points).toEqual(['reserve.before-commit', 'reserve.committed']);
  });
});

describe('events that come together', () => {
  test('of one user are one claim after the other', async () => {
    const { event } = await shop({ cooldown: '1h', maxClaims: 2 });
    const first = event();
    const twice = [first, event({ userKey: first.submission.userKey })];
    const [one, two] = await decide(twice);
    expect([shortly(one), shortly(two)]).toEqual([10, 'duplicate']);
    expect(two).toMatchObject({
      refusal: { existingEventId: first.rewardId },
      state: { counter: { claims: 1 } },
    });
  });

  test('take from one total, one escrow and one spend limit', async () => {
    const codes = async (of: Awaited<ReturnType<typeof shop>>, count: number) =>
      (await decide(Array.from({ length: count }, () => of.event()))).map(shortly);
    const total = await shop({ maxTotalClaims: 2 });
    expect(await codes(total, 3)).toEqual([10, 10, 'max_total_claims_reached']);
    expect(await codes(total, 1)).toEqual(['max_total_claims_reached']);
    const poor = await shop({}, { deposit: 25 });
    expect(await codes(poor, 3)).toEqual([10, 10, 'insufficient_brand_balance']);
    const careful = await shop({}, { spendPerHour: 25, spendPerDay: 45 });
    expect(await codes(careful, 3)).toEqual([10, 10, 'spend_limit']);
    ledger.clock.advance(HOUR);
    expect(await codes(careful, 3)).toEqual([10, 10, 'spend_limit']);
    ledger.clock.advance(HOUR);
    const [last] = await decide([careful.event()]);
    expect(last).toMatchObject({ refusal: { code: 'spend_limit', span: 'day', spent: 40, limit: 45 } });
    ledger.clock.advance(22 * HOUR);
    expect(await codes(careful, 1)).toEqual([10]);
  });

  test('of several brands and rules each count for their own', async () => {
    const [a, b] = [await shop({ maxTotalClaims: 1 }), await shop({ reward: 20 }, { deposit: 20 })];
    await changeRule(ledger, { name: a.brandId, eventType: 'buy' }, { reward: 3 });
    const events = [a.event(), b.event(), a.event(), a.event({ eventType: 'buy' }), b.event()];
    expect((await decide(events)).map(shortly)).toEqual([
      ...[10, 20, 'max_total_claims_reached', 3],
      'insufficient_brand_balance',
    ]);
  });

  test('are decided in rounds of a size, and idle waits for all', async () => {
    const { event } = await shop();
    const { submit, idle, points } = submitter({ batchMax: 2 });
    const decisions = [event(), event(), event()].map((one) => submit(one));
    await idle();
    expect((await Promise.all(decisions)).map(shortly)).toEqual([10, 10, 10]);
    expect(points.filter((point) => point === 'reserve.committed')).toHaveLength(2);
  });
});

describe('an event that is refused', () => {
  test('says what was known up to there, and changes nothing', async () => {
    const { brandId, event } = await shop();
    const known = event({ eventType: 'dance' });
    const [unknown, dance] = await decide([event({ brandId: freshAddress() }), known]);
    expect(unknown).toMatchObject({
      brand: undefined,
      rule: undefined,
      refusal: { code: 'brand_not_found' },
    });
    expect(dance).toMatchObject({ brand: { brandId }, refusal: { code: 'event_not_found' } });
    expect(dance).not.toHaveProperty('state');
    expect(await findReward(ledger.database.db, known.rewardId)).toBeUndefined();
  });

  test('when its host is nearer to another brand', async () => {
    const { domain, event } = await shop();
    const below = `far.${domain}`;
    expect(shortly((await decide([event({ domain: below })]))[0])).toBe(10);
    await linkProvenDomain(ledger.database.db, { brandId: freshAddress(), domain: below });
    const [decision, ours] = await decide([event({ domain: below }), event()]);
    expect(shortly(decision)).toBe('domain_not_authorized');
    expect(shortly(ours)).toBe(10);
  });

  test('when its reward would go to the service: an account by its list, or one that a lane sends from', async () => {
    const { event } = await shop();
    const lane = `0x${'Cd'.repeat(19)}01` as const;
    const lease = {
      address: lane,
      purpose: 'payout',
      owner: 'a',
      now: ledger.businessTime(),
      forMs: 1,
    } as const;
    await leaseLane(ledger.database.db, lease);
    const addresses = [ownAddress, lane.toLowerCase() as typeof lane, freshAddress()];
    const asked = addresses.map((userAddress) => event({ userKey: userAddress, userAddress }));
    const decisions = await decide(asked);
    expect(decisions.map(shortly)).toEqual(['invalid_event_data', 'invalid_event_data', 10]);
    expect(decisions[0]).toMatchObject({
      rule: { eventType: 'visit' },
      refusal: {
        errors: [
          'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address',
        ],
      },
    });
    const mine = event();
    await decide([mine]);
    const wallet = (await findWallets(ledger.database.db, [mine.submission.userKey])).get(
      mine.submission.userKey,
    );
    ledger.clock.advance(25 * HOUR);
    const ownAddresses = new Set([wallet?.address ?? '']);
    expect(shortly((await decide([event({ userKey: mine.submission.userKey })], { ownAddresses }))[0])).toBe(
      'invalid_event_data',
    );
  });
});

test("a brand's own name stands for its event, unless there is an event of that name", async () => {
  const { brandId, event } = await shop();
  await changeBrand(ledger, brandId, { 'eventNameMapping.seen': 'visit' });
  expect((await decide([event({ eventType: 'seen' })]))[0]).toMatchObject({
    granted: { eventType: 'visit' },
  });
  await changeRule(ledger, { name: brandId, eventType: 'seen' }, { reward: 4 });
  expect((await decide([event({ eventType: 'seen' })]))[0]).toMatchObject({
    granted: { eventType: 'seen', amount: 4 },
  });
});

test('streaks are asked for the events whose rule multiplies, and for no others', async () => {
  const [streak, plain] = [await shop({ multiplier: 'streak' }), await shop()];
  const asked: string[] = [];
  let questions = 0;
  const streakMultipliers: SubmitEventsDeps['streakMultipliers'] = async (_, { users }) => {
    questions += 1;
    asked.push(...users.map(({ brand }) => brand.brandId));
    return users.map(() => 2);
  };
  const decisions = await decide([streak.event(), plain.event()], { streakMultipliers });
  expect(decisions.map(shortly)).toEqual([20, 10]);
  expect(asked).toEqual([streak.brandId]);
  expect((await decide([plain.event()], { streakMultipliers })).map(shortly)).toEqual([10]);
  expect([asked.length, questions]).toEqual([1, 1]);
  expect((await decide([streak.event()])).map(shortly)).toEqual([10]);
});

test('an order counts for what the brand believes', async () => {
  const { brandId, event } = await shop({ perUsd: 2, maxReward: 50 });
  const ordered = () => event({ metadata: { order_total: 20 } });
  expect((await decide([ordered()])).map(shortly)).toEqual([40]);
  await changeBrand(ledger, brandId, { clientAmounts: 'credential' });
  const withKey = ordered();
  withKey.submission.withBrandKey = true;
  expect((await decide([ordered(), withKey])).map(shortly)).toEqual([10, 40]);
});

describe('the alarms of decisions', () => {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

  test('tell of a spend limit until its window ends', async () => {
    const { brandId, event } = await shop({}, { spendPerHour: 15 });
    const alarms = createAlarms({ now: ledger.clock.now, log });
    const decisions = await decide([event(), event()]);
    for (const decision of decisions) raiseEventAlarms({ alarms, clock: ledger.clock }, decision);
    const endsAt = new Date(ledger.clock.now() + HOUR).toISOString();
    expect(alarms.list()).toMatchObject([
      {
        code: 'spend_limit',
        about: `${brandId} hour`,
        facts: { limit: 15, spent: 10, required: 10, endsAt },
      },
    ]);
    ledger.clock.advance(HOUR - 1);
    expect(alarms.list()).toHaveLength(1);
    ledger.clock.advance(1);
    expect(alarms.list()).toEqual([]);
  });

  test('tell of a rule without an end until it has one', async () => {
    const { brandId, event } = await shop();
    const alarms = createAlarms({ now: ledger.clock.now, log });
    const raise = (decision: EventDecision) => raiseEventAlarms({ alarms, clock: ledger.clock }, decision);
    const [decision] = await decide([event()]);
    if (!decision?.rule) throw new Error('no rule');
    const endless = { ...decision.rule, detail: { ...decision.rule.detail, dynamic: { perUsd: 1 } } };
    raise({ ...decision, rule: endless });
    expect(alarms.list()).toMatchObject([
      { code: 'rule_without_max_reward', about: `${brandId} visit`, facts: { paysInstead: 10 } },
    ]);
    raise({ nowMs: 0, refusal: { code: 'brand_not_found', brandId } });
    expect(alarms.list()).toHaveLength(1);
    raise(decision);
    expect(alarms.list()).toEqual([]);
  });
});

describe('what is told of an event', () => {
  test('is its reward, and how far the transaction is', async () => {
    const { brandId, event } = await shop();
    const asked = event();
    const [decision] = await decide([asked]);
    if (!decision || !('granted' in decision)) throw new Error('refused');
    const { sequence, wallet } = decision.granted;
    const { db } = ledger.database;
    const state = (id = asked.rewardId) => readEventState(ledger, id);
    const about = {
      eventId: asked.rewardId,
      brandId,
      eventType: 'visit',
      rewardAmount: 10,
      walletAddress: wallet,
    };
    const nothingYet = {
      ...about,
      reason: null,
      status: 'waiting',
      transactionHash: null,
      blockNumber: null,
    };
    expect(await state()).toEqual(nothingYet);
    expect(await state(asked.rewardId.toUpperCase())).toEqual(nothingYet);
    for (const id of ['', 'x', `${asked.rewardId}0`, `0${asked.rewardId}`, ledger.random.uuid()])
      expect(await state(id)).toBeUndefined();

    const [id, hash] = [freshKey('transaction'), freshHash()];
    await storeTransaction(db, {
      id,
      lane: freshAddress(),
      nonce: 0,
      purpose: 'payout',
      epoch: 1,
      hash,
      raw: '0x02c0',
      maxFeeWei: 1n,
      priorityFeeWei: 1n,
      createdAt: START_MS,
    });
    await bindRewards(db, { sequences: [sequence], transactionId: id });
    expect(await state()).toEqual(nothingYet);
    const set = (change: Partial<typeof transactions.$inferInsert>) =>
      db.update(transactions).set(change).where(eq(transactions.id, id));
    await set({ status: 'sent' });
    expect(await state()).toMatchObject({ status: 'sent', transactionHash: hash, blockNumber: null });
    for (const status of ['included', 'final'] as const) {
      await set({ status, outcome: 'done', blockNumber: 7 });
      expect(await state()).toMatchObject({ status, transactionHash: hash, blockNumber: 7 });
    }
    for (const outcome of ['reverted', 'noop'] as const) {
      await set({ outcome });
      expect(await state()).toEqual(nothingYet);
    }
    await failRewards(db, { sequences: [sequence], failure: 'reverted' });
    expect(await state()).toMatchObject({
      status: 'failed',
      reason: 'reverted',
      transactionHash: hash,
      blockNumber: 7,
    });
  });

  test('before it comes: the active events of its brand', async () => {
    const { brandId } = await shop();
    await changeRule(ledger, { name: brandId, eventType: 'off' }, { reward: 1, active: false });
    expect(await readEventConfig(ledger, brandId)).toMatchObject({
      brand: { brandId },
      rules: [{ eventType: 'visit' }],
    });
    expect(await readEventConfig(ledger, freshAddress())).toBeUndefined();
  });
});
