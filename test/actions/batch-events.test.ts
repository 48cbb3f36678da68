/** Events that share a commit: what becomes of it when another writer was there first, or a row stays locked. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeRule } from '../../src/actions/brands/manage-brands.ts';
import { createEventSubmitter } from '../../src/actions/events/batch-events.ts';
import { Overtaken } from '../../src/actions/rewards/record-grants.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { findReward } from '../../src/ledger/rewards/rewards.ts';
import type { EventSubmission } from '../../src/rules/events/submission.ts';
import {
  freshKey,
  lockedRow,
  postgresMissing,
  startPostgres,
  type TestPostgres,
} from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const TRIES_MAX = 3;

/** Decides events as a process that has just started; `commits` are the tries, and `fails` what one of them meets. */
function start(ledger: TestLedger, { fails = (_tries: number): unknown => undefined } = {}) {
  const world = { fails, tries: 0, commits: 0 };
  const submitter = createEventSubmitter({
    ...ledger,
    ownHosts: [],
    ownAddresses: new Set<string>(),
    duplicateWindowMs: 60_000,
    batchMax: 100,
    triesMax: TRIES_MAX,
    crash(point) {
      if (point === 'reserve.committed') world.commits += 1;
      if (point !== 'reserve.before-commit') return;
      world.tries += 1;
      const error = world.fails(world.tries);
      if (error) throw error;
    },
  });
  const decide = async (event: Parameters<typeof submitter.submit>[0]) => {
    const decision = await submitter.submit(event);
    return 'granted' in decision ? decision.granted.rewardId : decision.refusal.code;
  };
  return { world, decide, ...submitter };
}

async function shop(ledger: TestLedger) {
  const { brandId, domain } = await someBrand(ledger, { deposit: 1_000 });
  await changeRule(ledger, { name: brandId, eventType: 'visit' }, { reward: 10 });
  const event = (rewardId: string = ledger.random.uuid()) => {
    const submission: EventSubmission = {
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
    };
    return { submission, rewardId };
  };
  return { brandId, event };
}

const coded = (code: string) => Object.assign(new Error(`of the database: ${code}`), { code });

describe('a commit that another writer was in the way of', () => {
  let ledger: TestLedger;
  let event: Awaited<ReturnType<typeof shop>>['event'];
  beforeAll(async () => {
    ledger = await openLedger();
    ({ event } = await shop(ledger));
  });
  afterAll(() => ledger.close());

  test.each([
    ['is contended', coded('SQLITE_BUSY')],
    ['is overtaken', new Overtaken('')],
  ])('is tried again when it %s, three times in all', async (_, error) => {
    const { world, decide } = start(ledger, { fails: (tries) => tries < TRIES_MAX && error });
    const one = event();
    expect(await decide(one)).toBe(one.rewardId);
    expect([world.tries, world.commits]).toEqual([3, 1]);
    world.fails = () => error;
    await expect(decide(event())).rejects.toBe(error);
    expect(world.tries).toBe(6);
  });

  test.each([
    ['any error', new Error('a fault')],
    ['a row of the same key that is nobody’s reward', coded('SQLITE_CONSTRAINT_UNIQUE')],
  ])('is not tried again after %s, and all its callers hear of it', async (_, error) => {
    const { world, decide, idle } = start(ledger, { fails: () => error });
    const answers = [event(), event()].map((one) => decide(one).catch((reason: unknown) => reason));
    expect(await Promise.all(answers)).toEqual([error, error]);
    expect(world.tries).toBe(1);
    await idle();
  });

  test('leaves out an event whose reward is there already, and decides the others', async () => {
    const { world, decide, submit } = start(ledger);
    const [first, second] = [event(), event()];
    await decide(first);
    const { submission } = event();
    const twin = { submission, rewardId: first.rewardId };
    const decided = await Promise.all([submit(twin), submit(second)]);
    expect(decided[0]).toEqual({ nowMs: START_MS, refusal: { code: 'reward_id_taken' } });
    expect(decided[1]).toMatchObject({ granted: { rewardId: second.rewardId } });
    expect((await findReward(ledger.database.db, first.rewardId))?.reward.userKey).toBe(
      first.submission.userKey,
    );
    expect(world.commits).toBe(2);
    // Alone it leaves nothing to decide.
    expect(await decide(twin)).toBe('reward_id_taken');
    expect(world.commits).toBe(2);
  });
});

describe.skipIf(postgresMissing() !== undefined)('a row that another transaction keeps locked', () => {
  let postgres: TestPostgres;
  let ledger: TestLedger;
  let locked: Awaited<ReturnType<typeof shop>>;
  let free: Awaited<ReturnType<typeof shop>>;
  let unlock = async () => {};
  beforeAll(async () => {
    postgres = await startPostgres({ migrated: true });
    ledger = await openLedger(openPostgres(postgres.url));
    locked = await shop(ledger);
    free = await shop(ledger);
  });
  afterAll(async () => {
    await ledger.close();
    await postgres.stop();
  });
  beforeEach(async () => {
    unlock = await lockedRow(postgres.url, 'brand_funds', { brand_id: locked.brandId });
  });
  afterEach(() => unlock());

  test('its events are decided apart, until it can be locked again', async () => {
    const { world, decide, submit, idle } = start(ledger);
    const order: string[] = [];
    const told = async (who: string, event: ReturnType<typeof free.event>) => {
      const decision = await submit(event);
      order.push('granted' in decision ? `${who}: paid` : `${who}: ${decision.refusal.code}`);
      return decision;
    };
    // Together at first: the others are decided as soon as it is known which row is locked.
    const [, , refused] = await Promise.all([
      told('free', free.event()),
      told('free', free.event()),
      told('locked', locked.event()),
    ]);
    expect(order).toEqual(['free: paid', 'free: paid', 'locked: database_busy']);
    expect(refused).toEqual({ nowMs: START_MS, refusal: { code: 'database_busy' } });
    expect(world.commits).toBe(1);
    // From now on the others do not wait at all.
    const waiting = told('locked', locked.event());
    await told('free', free.event());
    expect(order.slice(3)).toEqual(['free: paid']);
    await unlock();
    await waiting;
    expect(await decide(locked.event())).not.toBe('database_busy');
    await idle();
    // It is free: all of them share a commit again.
    const { commits } = world;
    await Promise.all([decide(locked.event()), decide(free.event())]);
    expect(world.commits).toBe(commits + 1);
  }, 60_000);

  test('alone in its round too, and what else goes wrong is no lock', async () => {
    const { world, decide, idle } = start(ledger);
    expect(await decide(locked.event())).toBe('database_busy');
    expect(world.commits).toBe(0);
    await unlock();
    const fault = new Error('a fault');
    world.fails = () => fault;
    await expect(decide(locked.event())).rejects.toBe(fault);
    await idle();
    expect(world.tries).toBe(1);
  }, 60_000);
});
