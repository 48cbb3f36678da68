/** One event from its decision to the answer: what is paid, late, failed, or was granted by an earlier try. */
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeRule } from '../../src/actions/brands/manage-brands.ts';
import { createEventSubmitter } from '../../src/actions/events/batch-events.ts';
import { type EventOutcome, rewardEvent } from '../../src/actions/events/reward-event.ts';
import { replyToEvent } from '../../src/http/events/answer-event.ts';
import { findReward } from '../../src/ledger/rewards/rewards.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import type { EventSubmission } from '../../src/rules/events/submission.ts';
import { freshHash, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const hash = freshHash();
let ledger: TestLedger;
let submission: (change?: Partial<EventSubmission>) => EventSubmission;
beforeAll(async () => {
  ledger = await openLedger();
  const { brandId, domain } = await someBrand(ledger, { deposit: 1_000 });
  await changeRule(ledger, { name: brandId, eventType: 'visit' }, { reward: 10 });
  submission = (change = {}) => ({
    brandId,
    eventType: 'visit',
    userKey: `${freshKey('user')}@demo.example`,
    userEmail: undefined,
    userAddress: undefined,
    channel: undefined,
    skipCooldown: false,
    metadata: {},
    withBrandKey: false,
    domain,
    ...change,
  });
});
afterAll(() => ledger.close());

type Deps = Parameters<typeof rewardEvent>[0];
type Progress = Awaited<ReturnType<Deps['progress']['waitFor']>>;
type Effect = NonNullable<Parameters<typeof rewardEvent>[2]>;

/** As the payout lane would: each reward is waited for before the lane is told, and then it is as far as `progress` says. */
function service(
  progress: Partial<NonNullable<Progress>> | null = { hash, failure: null },
  random: Partial<Deps['random']> = {},
) {
  const steps: unknown[] = [];
  const decided: string[] = [];
  const events = createEventSubmitter({
    ...ledger,
    ownHosts: [],
    ownAddresses: new Set<string>(),
    duplicateWindowMs: 60_000,
    batchMax: 100,
    triesMax: 3,
    crash: () => {},
  });
  const deps: Deps = {
    ...ledger,
    random: { ...ledger.random, ...random },
    submitter: {
      submit(one) {
        decided.push(one.rewardId);
        return events.submit(one);
      },
    },
    answerWhen: 'sent',
    answerTimeoutMs: 5_000,
    payouts: { nudge: () => void steps.push('nudge') },
    progress: {
      async waitFor(wanted) {
        steps.push(wanted);
        return (progress ?? undefined) as Progress;
      },
    },
    crash: (point) => void steps.push(point),
  };
  const ask = (event = submission(), effect?: Partial<Effect>) => {
    const renew = () => Promise.reject(new Error('nothing was undone'));
    return rewardEvent(deps, event, effect && { id: freshKey('id'), mayExist: false, renew, ...effect });
  };
  return { ask, steps, decided };
}

describe('an event that is granted', () => {
  test('is waited for before the lane is told of it, and answered with its transaction', async () => {
    const { ask, steps } = service();
    const outcome = await ask();
    if (!('paid' in outcome)) throw new Error('refused');
    const { rewardId } = outcome.paid;
    expect(outcome).toMatchObject({
      paid: { amount: 10 },
      transactionHash: hash,
      decision: { granted: { rewardId } },
    });
    expect(steps).toEqual([{ rewardId, until: 'sent', timeoutMs: 5_000 }, 'nudge', 'answer.before-reply']);
  });

  test.each<[string, Partial<NonNullable<Progress>> | null, object]>([
    ['late', null, { code: 'payout_pending' }],
    ['failed', { hash, failure: 'reverted' }, { code: 'payout_failed', reason: 'reverted' }],
    [
      'without a transaction',
      { hash: null, failure: null },
      { code: 'payout_failed', reason: 'no_transaction' },
    ],
  ])('may be %s', async (_, progress, refusal) => {
    const id = ledger.random.uuid();
    expect(await service(progress).ask(submission(), { id })).toMatchObject({
      refusal: { ...refusal, eventId: id },
    });
  });
});

test('an event that is refused is decided once, and not waited for', async () => {
  const { ask, steps, decided } = service();
  expect(await ask(submission({ eventType: 'dance' }))).toMatchObject({
    refusal: { code: 'event_not_found' },
    decision: { refusal: { code: 'event_not_found' } },
  });
  expect(await ask(submission({ eventType: 'dance' }), {})).toMatchObject({
    refusal: { code: 'event_not_found' },
  });
  expect(steps).toEqual([]);
  expect(decided).toHaveLength(2);
});

describe('an event without a key whose new id a reward has already', () => {
  const taken = async () => {
    const outcome = await service().ask();
    return 'paid' in outcome ? outcome.paid.rewardId : '';
  };
  const drawing = (...ids: string[]) => service(undefined, { uuid: () => ids.shift() ?? '' });

  test('is granted under another', async () => {
    const free = ledger.random.uuid();
    expect(await drawing(await taken(), free).ask()).toMatchObject({
      paid: { rewardId: free },
      decision: { granted: { rewardId: free } },
    });
  });

  test('fails when that one is taken too: the ids repeat themselves, and the database is not busy', async () => {
    const id = await taken();
    await expect(drawing(id, id).ask()).rejects.toThrow('a reward has the new id of another event');
  });
});

describe('an event with a key', () => {
  test('gets the id that its reward has, and a later try finds it there', async () => {
    const { ask } = service();
    const id = ledger.random.uuid();
    const event = submission();
    const first = await ask(event, { id });
    expect(first).toMatchObject({ paid: { rewardId: id } });
    const again = await ask(event, { id, mayExist: true });
    expect(again).toEqual(
      'paid' in first && {
        paid: expect.objectContaining(first.paid),
        transactionHash: first.transactionHash,
      },
    );
    expect(again).not.toHaveProperty('decision');
  });

  test('is answered by another try of it that was granted meanwhile', async () => {
    const { ask } = service();
    const id = ledger.random.uuid();
    const event = submission();
    await ask(event, { id });
    const beaten = await ask(event, { id });
    expect(beaten).toMatchObject({ paid: { rewardId: id } });
    expect(beaten).not.toHaveProperty('decision');
    expect(await ask(event)).toMatchObject({ refusal: { code: 'duplicate' } });
  });

  test('has one reward, even where another could be granted', async () => {
    const { ask } = service();
    const id = ledger.random.uuid();
    await ask(submission(), { id });
    const { userKey } = submission();
    const again = await ask(submission({ userKey }), { id });
    expect(again).toMatchObject({ paid: { rewardId: id } });
    const { db } = ledger.database;
    expect(await db.select().from(rewards).where(eq(rewards.userKey, userKey))).toEqual([]);
  });

  test('whose reward was given back is granted under a new id', async () => {
    const { ask } = service();
    const [id, renewed] = [ledger.random.uuid(), ledger.random.uuid()];
    const event = submission();
    await ask(event, { id });
    await ledger.database.db
      .update(rewards)
      .set({ failure: 'reverted', releasedAt: START_MS })
      .where(eq(rewards.id, id));
    ledger.clock.advance(48 * 3_600_000);
    await changeRule(ledger, { name: event.brandId, eventType: 'visit' }, { maxClaims: 2 });
    expect(await ask(event, { id, mayExist: true, renew: async () => renewed })).toMatchObject({
      paid: { rewardId: renewed },
    });
    expect((await findReward(ledger.database.db, renewed))?.reward.amount).toBe(10);
  });

  test('of which an earlier try came to nothing is decided under its id', async () => {
    const { ask } = service();
    const id = ledger.random.uuid();
    expect(await ask(submission(), { id, mayExist: true })).toMatchObject({
      paid: { rewardId: id },
      decision: {},
    });
  });
});

describe('what an answer leaves under the key of its request', () => {
  const eventId = '0192f0c1-2b3c-7d4e-8f5a-6b7c8d9e0f1a';
  const kept = (outcome: EventOutcome) => {
    const reply = () => ({ status: 503 as const, body: {} as never, headers: {} });
    const event = { submission: submission(), nowMs: START_MS, bodyBytes: 2 };
    return replyToEvent({ refuser: { reply } }, event, outcome).kept;
  };

  test.each<[EventOutcome & { refusal: unknown }, string]>([
    [{ refusal: { code: 'payout_pending', eventId } }, 'id'],
    [{ refusal: { code: 'payout_failed', eventId, reason: 'reverted' } }, 'id'],
    [{ refusal: { code: 'duplicate', existingEventId: eventId, passesAtMs: 0 } }, 'nothing'],
    [{ refusal: { code: 'database_busy' } }, 'nothing'],
  ])('%j: %s, by which the next try finds what this one has done', (outcome, left) => {
    expect(kept(outcome)).toBe(left);
  });

  test('a reward that is paid: the answer', async () => {
    expect(kept(await service().ask())).toBe('answer');
  });
});
