/** A reward or a call whose id is in the ledger already, and lists that are longer than a statement may be. */
import { beforeAll, expect, test } from 'vitest';
import { createEventSubmitter } from '../../src/actions/events/batch-events.ts';
import { createRelayQueue } from '../../src/actions/relay/queue-relays.ts';
import { saveBrand, saveEventRule } from '../../src/ledger/brands/brands.ts';
import { commitOnce } from '../../src/ledger/database/commit-once.ts';
import { readWindow } from '../../src/ledger/limits/rate-windows.ts';
import { readRelays } from '../../src/ledger/relay/queued-relays.ts';
import { bookMovement } from '../../src/ledger/rewards/funds.ts';
import { readRewardProgress } from '../../src/ledger/rewards/rewards.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { brandRow, ruleRow } from './brands.ts';

const random = secureRandom(systemClock());

test('an error of another kind is no answer, though the rows are there', async () => {
  const commit = () => Promise.reject(new Error('the connection was lost'));
  const of = { commit, there: async (items: string[]) => items, answerThere: () => 'there' };
  await expect(commitOnce(['a'], of)).rejects.toThrow('the connection was lost');
});

onEveryDatabase(({ kit }) => {
  const brandId = freshAddress();
  const eventType = 'visit';
  beforeAll(async () => {
    const { db } = kit().database;
    await saveBrand(db, brandRow({ brandId, domains: [`${brandId}.example`] }));
    await saveEventRule(db, ruleRow({ brandId, eventType }));
    await bookMovement(db, {
      id: freshKey('deposit'),
      brandId,
      kind: 'deposit',
      amount: 1_000,
      transactionHash: freshHash(),
      logIndex: 0,
      blockNumber: 1,
      createdAt: 0,
    });
  });

  const submitter = () => {
    const { database } = kit();
    return createEventSubmitter({
      database,
      clock: systemClock(),
      businessTime: () => database.now,
      crash: neverCrash,
      addressAt: (index) => `0x${(0xacc0000 + index).toString(16).padStart(40, '0')}`,
      ownHosts: [],
      ownAddresses: new Set(),
      duplicateWindowMs: 60_000,
      batchMax: 400,
      triesMax: 10,
    });
  };
  const event = (rewardId = random.uuid()) => ({
    rewardId,
    submission: {
      brandId,
      eventType,
      userKey: `${random.uuid()}@people.example`,
      userEmail: undefined,
      userAddress: undefined,
      channel: undefined,
      skipCooldown: false,
      metadata: {},
      withBrandKey: true,
    },
  });

  test('a reward that is there already fails alone: the events decided with it are rewarded', async () => {
    const { submit } = submitter();
    const first = event();
    expect(await submit(first)).toHaveProperty('granted');
    const events = [event(), event(first.rewardId), event(), event()];
    const decisions = await Promise.all(events.map(submit));
    expect(decisions.map((one) => ('granted' in one ? 'granted' : one.refusal.code))).toEqual([
      'granted',
      'reward_id_taken',
      'granted',
      'granted',
    ]);
    const ids = events.map(({ rewardId }) => rewardId);
    expect(await readRewardProgress(kit().database.db, ids)).toHaveLength(4);
  });

  test('a call that is queued already takes no gas and no place a second time: the calls queued with it are queued', async () => {
    const { database } = kit();
    const userLimit = { scope: freshKey('relays'), limit: 35, windowMs: 3_600_000 };
    const { queue } = createRelayQueue({
      database,
      businessTime: () => database.now,
      userLimit,
      batchMax: 100,
      triesMax: 10,
    });
    const lane = freshAddress();
    const call = (id = random.uuid(), userAddress = freshAddress()) => ({
      id,
      lane,
      payer: 'service' as const,
      userAddress,
      recipient: freshAddress(),
      data: '0x' as const,
      valueWei: '0',
      gas: 21_000,
      permit: null,
      reservedGwei: 1,
      budgetDay: 1,
      budgetGwei: 1_000,
      shareGwei: 1_000,
      createdAt: 0,
    });
    const first = call();
    expect(await queue(first)).toMatchObject({ queued: true, window: { remaining: 34 } });
    const answers = await Promise.all([call(), first, call()].map(queue));
    expect(answers).toMatchObject([{ queued: true }, { queued: true }, { queued: true }]);
    const { userAddress: subject } = first;
    const window = await readWindow(database.db, { ...userLimit, subject, now: database.now });
    expect(window.remaining).toBe(34);
    expect(answers[1]).toMatchObject({ window: { remaining: 34 } });
  });

  test('70,000 requests that wait are asked for: more than one statement takes', async () => {
    const { database } = kit();
    const { submit } = submitter();
    const [first, last] = [event(), event()];
    await Promise.all([first, last].map(submit));
    const strangers = Array.from({ length: 70_000 }, (_, place) => `stranger-${place}`);
    const ids = [first.rewardId, ...strangers, last.rewardId];
    const found = await readRewardProgress(database.db, ids);
    expect(found.map(({ rewardId }) => rewardId).sort()).toEqual([first.rewardId, last.rewardId].sort());
    expect(await readRelays(database.db, ids)).toEqual([]);
  });
});
