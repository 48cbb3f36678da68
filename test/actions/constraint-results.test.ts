/** What is known of a buyer's constraints: whom the chat is asked about, and for how long a brand's server's word counts. */
import { eq } from 'drizzle-orm';
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createExternalApi, type ExternalApiDeps } from '../../src/actions/constraints/ask-external-api.ts';
import { membershipText, readMemberships } from '../../src/actions/constraints/check-constraints.ts';
import { createResultLooks } from '../../src/actions/constraints/constraint-results.ts';
import { boundedChat, type ChatMembership, type ChatUser } from '../../src/constraints/chat-provider.ts';
import type { EligibilityAnswer } from '../../src/constraints/external-api.ts';
import {
  beginQuestion,
  invalidateUrl,
  keepAnswer,
  type ResultKey,
} from '../../src/ledger/constraint-results.ts';
import { constraintResults } from '../../src/ledger/schema/engagement/constraints.ts';
import { ensureWallets } from '../../src/ledger/wallets/wallets.ts';
import type { Hex } from '../../src/lib/hex.ts';
import type { LogFields } from '../../src/lib/log.ts';
import { turnOfEventLoop } from '../../src/lib/timers.ts';
import { freshAddress, freshKey, outcomes, signal } from '../kits/databases/databases.ts';
import { openLedger, START_MS, type TestLedger } from './ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** Waits until nobody has been asked for many turns of the thread: the ledger is in memory and the chat answers at once. */
async function loopEnds(asked: readonly unknown[]): Promise<void> {
  for (let [quiet, seen] = [0, -1]; quiet < 200; quiet += 1) {
    await turnOfEventLoop();
    if (asked.length !== seen) quiet = 0;
    seen = asked.length;
  }
}

/** A log that keeps what it was told. */
function keptLog() {
  const told: unknown[] = [];
  const keep = (fields: LogFields, message: string) => void told.push([fields, message]);
  return { told, log: { debug: keep, info: keep, warn: keep, error: keep } };
}

const standing = (level: number): ChatMembership => ({ platform: 'discord', level, roles: [] });

describe('how a buyer stands in the chats', () => {
  const ask = (of: { address: Hex; userKey?: string }, standings: () => Promise<ChatMembership[]>) => {
    const asked: ChatUser[] = [];
    const { log, told } = keptLog();
    const chat = {
      standingsOf(user: ChatUser) {
        asked.push(user);
        return standings();
      },
    };
    const brandId = freshAddress();
    const answer = readMemberships({ database: ledger.database, chat, log }, { brandId, ...of });
    return { answer, asked, brandId, told };
  };
  const address: Hex = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';

  test('is unknown where the service has no chat provider', async () => {
    const { log, told } = keptLog();
    const deps = { database: ledger.database, log };
    expect(await readMemberships(deps, { brandId: freshAddress(), address })).toBeUndefined();
    expect(told).toEqual([]);
  });

  test('is asked of the user who is known, else of every user who has the wallet, however it is spelled', async () => {
    const [one, other, stranger] = ['a', 'b', 'c'].map((name) => `${freshKey(name)}@people.example`);
    const spelled = new Map([
      [one, address],
      [other, getAddress(address)],
      [stranger, freshAddress()],
    ]);
    for (const [userKey, at] of spelled)
      await ledger.database.atomically((tx) =>
        ensureWallets(tx, { userKeys: [userKey ?? ''], addressAt: () => at, nowMs: START_MS }),
      );
    const known = ask({ address, userKey: 'x@people.example' }, async () => [standing(3)]);
    expect(await known.answer).toEqual([standing(3)]);
    expect(known.asked).toEqual([{ brandId: known.brandId, address, userKeys: ['x@people.example'] }]);
    const unknown = ask({ address }, async () => []);
    expect(await unknown.answer).toEqual([]);
    expect(unknown.asked).toEqual([{ brandId: unknown.brandId, address, userKeys: expect.anything() }]);
    expect([...(unknown.asked[0]?.userKeys ?? [])].sort()).toEqual([one, other]);
  });

  test('is not known while the provider is away, which the operator is told', async () => {
    const { answer, told, brandId } = ask({ address }, () => Promise.reject(new Error('ECONNRESET')));
    expect(await answer).toBeUndefined();
    expect(told).toEqual([[{ brandId, error: 'ECONNRESET' }, 'the chat provider gave no answer']]);
  });

  test('is one text for the same level and roles, in whatever order they come, and another for any other', () => {
    const discord = { platform: 'discord', level: 2, roles: ['b', 'a'] };
    const slack = { platform: 'slack', level: 0, roles: [] };
    const telegram = { platform: 'telegram', level: 1, roles: [] };
    const text = membershipText([slack, discord, telegram]);
    for (const same of [
      [discord, slack, telegram],
      [telegram, slack, { ...discord, roles: ['a', 'b'] }],
    ])
      expect(membershipText(same)).toBe(text);
    const others = [
      ...[undefined, [], [slack], [{ ...slack, platform: 'matrix' }, discord, telegram]],
      ...[
        [slack, { ...discord, level: 3 }, telegram],
        [slack, { ...discord, roles: ['a'] }, telegram],
      ],
    ].map((one) => membershipText(one));
    expect(new Set([text, ...others]).size).toBe(7);
    // What the provider gave is left as it was.
    expect(discord.roles).toEqual(['b', 'a']);
  });
});

const someKey = (): ResultKey => ({
  brandId: freshAddress(),
  url: 'https://brand.example/may',
  userAddress: freshAddress(),
  collectionId: 7,
});
const rowOf = async ({ brandId }: Pick<ResultKey, 'brandId'>) =>
  (
    await ledger.database.db.select().from(constraintResults).where(eq(constraintResults.brandId, brandId))
  )[0];

describe("a brand's server", () => {
  const QUESTION_MS = 9_000;
  const yes: EligibilityAnswer = { outcome: 'answered', isMet: true, message: null };
  const no: EligibilityAnswer = { outcome: 'answered', isMet: false, message: 'not yet' };

  /** A server that gives these answers, one after the other. */
  function server(
    answers: (() => Promise<EligibilityAnswer | undefined>)[],
    deps: Partial<ExternalApiDeps> = {},
  ) {
    const asked: unknown[] = [];
    const { log, told } = keptLog();
    const externalApi = createExternalApi({
      ...ledger,
      log,
      questionMs: QUESTION_MS,
      standing: async () => null,
      ask(question) {
        asked.push(question);
        const answer = answers.shift();
        if (!answer) throw new Error('asked too often');
        return answer();
      },
      ...deps,
    });
    return { asked, told, ask: (key: ResultKey, ttlSeconds = 60) => externalApi({ ...key, ttlSeconds }) };
  }

  test('is asked once; its word counts until its time is over, and is then asked for again', async () => {
    const key = someKey();
    const { ask, asked, told } = server([async () => no, async () => yes]);
    const kept = { isMet: false, message: 'not yet' };
    expect(await ask(key)).toEqual(kept);
    expect(await rowOf(key)).toMatchObject({
      ...kept,
      expiresAt: ledger.clock.now() + 60_000,
      standing: null,
    });
    ledger.clock.advance(59_999);
    expect(await ask(key)).toEqual(kept);
    expect(asked).toEqual([key]);
    ledger.clock.advance(1);
    expect(await ask(key)).toEqual({ isMet: true, message: null });
    expect(asked).toEqual([key, key]);
    expect(told).toEqual([]);
  });

  test('is asked about every user, perk, URL and brand by itself', async () => {
    const key = someKey();
    const others = [
      { ...key, brandId: freshAddress() },
      { ...key, url: `${key.url}/2` },
      { ...key, userAddress: freshAddress() },
      { ...key, collectionId: 8 },
    ];
    const { give, given } = signal();
    const { ask, asked } = server(
      [key, ...others].map((_, n) => async () => {
        await given;
        return { outcome: 'answered' as const, isMet: true, message: `${n}` };
      }),
    );
    const all = [key, ...others].map((one) => ask(one));
    await expect.poll(() => asked).toHaveLength(5);
    give();
    expect(new Set((await Promise.all(all)).map((one) => one?.message)).size).toBe(5);
  });

  test('is asked once by all who want to know at once', async () => {
    const key = someKey();
    const { give, given } = signal();
    const { ask, asked } = server([() => given.then(() => yes)]);
    const all = [ask(key), ask(key), ask(key)];
    await expect.poll(() => asked).toHaveLength(1);
    // What is under way is noted for as long as a question may take, and is no answer.
    expect(await rowOf(key)).toMatchObject({ isMet: null, expiresAt: ledger.clock.now() + QUESTION_MS });
    give();
    const kept = { isMet: true, message: null };
    expect(await Promise.all(all)).toEqual([kept, kept, kept]);
    expect(await ask(key)).toEqual(kept);
    expect(asked).toHaveLength(1);
  });

  test('a question after an invalidation asks anew, and the answer to an earlier one is not kept', async () => {
    const key = someKey();
    const [early, late] = [signal(), signal()];
    const { ask, asked } = server([() => early.given.then(() => no), () => late.given.then(() => yes)]);
    const first = ask(key);
    await expect.poll(() => asked).toHaveLength(1);
    const { brandId, url } = key;
    await invalidateUrl(ledger.database.db, { brandId, url, now: ledger.businessTime() });
    const others = [ask(key), ask(key)];
    await expect.poll(() => asked).toHaveLength(2);
    early.give();
    expect(await first).toEqual({ isMet: false, message: 'not yet' });
    others.push(ask(key));
    await expect.poll(() => rowOf(key)).toMatchObject({ isMet: null });
    late.give();
    const anew = { isMet: true, message: null };
    expect(await Promise.all(others)).toEqual([anew, anew, anew]);
    expect(await rowOf(key)).toMatchObject({ isMet: true });
    expect(await ask(key)).toMatchObject({ isMet: true });
    expect(asked).toHaveLength(2);
  });

  /** A ledger whose next read, once `hold` was called, is answered late: `release` gives what was read before. */
  function lateReads() {
    let held: Promise<void> | undefined;
    let reached = () => {};
    const { db } = ledger.database;
    const select = (fields: never) => ({
      from: (table: never) => ({
        async where(condition: never) {
          const rows = await db.select(fields).from(table).where(condition);
          const wait = held;
          held = undefined;
          if (wait) reached();
          await wait;
          return rows;
        },
      }),
    });
    const late = new Proxy(db, { get: (of, name) => (name === 'select' ? select : Reflect.get(of, name)) });
    return {
      database: { ...ledger.database, db: late },
      hold() {
        const { give: release, given } = signal();
        const { give, given: isHeld } = signal();
        [held, reached] = [given, give];
        return { release, isHeld };
      },
    };
  }

  test('a word that comes while the ledger is read is not asked for once more', async () => {
    const key = someKey();
    const { give, given } = signal();
    const { database, hold } = lateReads();
    const { ask, asked } = server([() => given.then(() => yes)], { database });
    const first = ask(key);
    await expect.poll(() => asked).toHaveLength(1);
    const { release, isHeld } = hold();
    const second = ask(key);
    await isHeld;
    give();
    const kept = await first;
    release();
    expect(await second).toEqual(kept);
    expect(asked).toHaveLength(1);
  });

  test('nor is one that another process has got meanwhile', async () => {
    const key = someKey();
    const { give, given } = signal();
    const { database, hold } = lateReads();
    const { ask, asked } = server([() => given.then(() => no)], { database });
    const first = ask(key);
    await expect.poll(() => asked).toHaveLength(1);
    const { release, isHeld } = hold();
    const second = ask(key);
    await isHeld;
    const theirs = { ...key, askedBy: 'them', now: ledger.businessTime() };
    await beginQuestion(ledger.database.db, { ...theirs, forMs: QUESTION_MS });
    const result = { isMet: true, message: 'theirs' };
    await keepAnswer(ledger.database.db, { ...theirs, result, standing: null, ttlMs: 60_000 });
    release();
    expect(await second).toEqual(result);
    give();
    expect(await first).toMatchObject({ isMet: false });
    // An answer that was overtaken goes to its caller, and is not kept.
    expect(await ask(key)).toEqual(result);
    expect(asked).toHaveLength(1);
  });

  test('without a usable answer leaves nothing behind, is asked again, and the operator is told why', async () => {
    const key = someKey();
    const failed: EligibilityAnswer = { outcome: 'failed', why: 'it answered 500 instead of 200' };
    const { ask, asked, told } = server([async () => failed, async () => undefined, async () => yes]);
    for (const _ of ['failed', 'left alone']) {
      expect(await ask(key)).toBeUndefined();
      expect(await rowOf(key)).toBeUndefined();
    }
    // One that is left alone was told of before.
    expect(told).toEqual([
      [{ brandId: key.brandId, why: failed.why }, "a brand's server gave no answer on a constraint"],
    ]);
    expect(await ask(key)).toEqual({ isMet: true, message: null });
    expect(asked).toHaveLength(3);
  });

  test('a fault reaches all who asked, and the next question is a new one', async () => {
    const key = someKey();
    const { ask, asked } = server([() => Promise.reject(new Error('a fault')), async () => yes]);
    const { errors } = await outcomes([ask(key), ask(key)]);
    expect(errors).toEqual([new Error('a fault'), new Error('a fault')]);
    expect(await ask(key)).toEqual({ isMet: true, message: null });
    expect(asked).toHaveLength(2);
  });

  test('its word is kept with how the buyer stood when it was asked', async () => {
    const key = someKey();
    const of: unknown[] = [];
    const { ask } = server([async () => yes], {
      async standing(asked, ttlSeconds) {
        of.push({ asked, ttlSeconds });
        return 'the standing';
      },
    });
    await ask(key, 600);
    expect(of).toEqual([{ asked: key, ttlSeconds: 600 }]);
    expect(await rowOf(key)).toMatchObject({
      standing: 'the standing',
      expiresAt: ledger.clock.now() + 600_000,
    });
  });
});

describe('looks at what is kept', () => {
  const LOOK_MS = 60_000;
  /** A result of a user who stood like this. */
  async function kept(
    level: number | undefined,
    { ttlMs = 3_600_000, ...of }: Partial<ResultKey> & { ttlMs?: number } = {},
  ): Promise<ResultKey> {
    const key = { ...someKey(), ...of };
    const { db } = ledger.database;
    const about = { ...key, askedBy: 'us', now: ledger.businessTime() };
    await beginQuestion(db, { ...about, forMs: 1 });
    await keepAnswer(db, {
      ...about,
      ttlMs,
      result: { isMet: true, message: null },
      standing: level === undefined ? null : membershipText([standing(level)]),
    });
    return key;
  }

  /** Looks with a chat that knows these levels; it is away for everybody else. `asked` is about whom it was asked. */
  function looks(
    levels: Map<Hex, number> | undefined,
    { looksMax = 1_000, chatAtOnce = 2, chatFailuresMax = 1_000, pollMs = 3_600_000 } = {},
  ) {
    const asked: Hex[] = [];
    const atOnce = { now: 0, most: 0 };
    const turns = { count: 0 };
    const chat = levels && {
      async standingsOf({ address }: ChatUser) {
        asked.push(address);
        atOnce.most = Math.max(atOnce.most, ++atOnce.now);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce.now -= 1;
        const level = levels.get(address);
        if (level === undefined) throw new Error('away');
        return [standing(level)];
      },
    };
    const { log, told } = keptLog();
    const clock = {
      ...ledger.clock,
      now() {
        turns.count += 1;
        return ledger.clock.now();
      },
    };
    const settings = { lookEveryMs: LOOK_MS, pollMs, looksMax, chatAtOnce, chatFailuresMax };
    const loop = createResultLooks({ ...ledger, clock, chat, log }, settings);
    return {
      asked,
      atOnce,
      told,
      turns,
      loop,
      /** One turn, when a look is due. */
      async lookNow() {
        ledger.clock.advance(LOOK_MS);
        loop.start();
        await loop.stop();
      },
    };
  }

  test('one of whom the chat never tells anything holds up none of a hundred others, and comes last from then on', async () => {
    const bad = await kept(1);
    const good: ResultKey[] = [];
    for (let count = 0; count < 100; count += 1) good.push(await kept(1));
    const asked: Hex[] = [];
    const hangs = {
      standingsOf({ address }: ChatUser): Promise<ChatMembership[]> {
        asked.push(address);
        return address === bad.userAddress ? new Promise(() => {}) : Promise.resolve([standing(2)]);
      },
    };
    const chat = boundedChat(hangs, { answerMs: 20 });
    const look = async () => {
      ledger.clock.advance(LOOK_MS);
      const settings = { lookEveryMs: LOOK_MS, pollMs: 3_600_000, looksMax: 1_000, chatAtOnce: 4 };
      const loop = createResultLooks(
        { ...ledger, chat, log: keptLog().log },
        { ...settings, chatFailuresMax: 100 },
      );
      ledger.clock.advance(LOOK_MS);
      loop.start();
      await loop.stop();
      return loop;
    };
    await look();
    for (const key of good) expect(await rowOf(key)).toBeUndefined();
    expect(await rowOf(bad)).toBeDefined();
    expect(asked.filter((address) => address === bad.userAddress)).toHaveLength(1);
  });

  test('those of whom a look learnt nothing are asked last by the next, and a look ends when nobody is answered', async () => {
    await ledger.database.db.delete(constraintResults);
    const away = [await kept(1), await kept(1), await kept(1)];
    const known = [await kept(1), await kept(1)];
    const isKnown = (address: Hex) => known.some(({ userAddress }) => userAddress === address);
    const levels = new Map(known.map(({ userAddress }) => [userAddress, 1]));
    const { loop, asked } = looks(levels, { chatAtOnce: 1, chatFailuresMax: 3 });
    /** One look; returns whom it asked. */
    const look = async () => {
      const before = asked.length;
      ledger.clock.advance(LOOK_MS);
      loop.nudge();
      await expect.poll(() => asked.length - before).toBeGreaterThanOrEqual(away.length);
      await loopEnds(asked);
      return asked.slice(before);
    };
    loop.start();
    // Whoever the first look began with: from the second on, those who are known come first.
    await look();
    expect((await look()).slice(0, known.length).every(isKnown)).toBe(true);
    const last = await look();
    expect(last.map(isKnown)).toEqual([true, true, false, false, false]);
    await loop.stop();
    await ledger.database.db.delete(constraintResults);
  });

  test('forget what has expired, also where no chat is known', async () => {
    const [old, young] = [await kept(undefined, { ttlMs: LOOK_MS }), await kept(1, { ttlMs: LOOK_MS + 1 })];
    const { lookNow, told } = looks(undefined);
    await lookNow();
    expect([await rowOf(old), await rowOf(young)]).toEqual([undefined, expect.anything()]);
    expect(told).toEqual([]);
  });

  test('forget the word on a buyer whose standing has changed, and on nobody else', async () => {
    const [changed, same, away, unasked] = [
      await kept(1),
      await kept(1),
      await kept(1),
      await kept(undefined),
    ];
    const { lookNow, asked, told } = looks(
      new Map([
        [changed.userAddress, 2],
        [same.userAddress, 1],
      ]),
    );
    await lookNow();
    const rows = await Promise.all([changed, same, away, unasked].map((key) => rowOf(key)));
    expect(rows.map((row) => row !== undefined)).toEqual([false, true, true, true]);
    expect(asked).not.toContain(unasked.userAddress);
    // Of a provider that is away, readers of its answers tell.
    expect(told).toContainEqual([
      { brandId: away.brandId, error: 'away' },
      'the chat provider gave no answer',
    ]);
  });

  test('ask about each buyer of a brand once, however many perks they asked for, the youngest words first', async () => {
    const { brandId, userAddress } = await kept(1, { ttlMs: 7_200_000 });
    await kept(1, { brandId, userAddress, collectionId: 8, ttlMs: 7_200_001 });
    const elsewhere = await kept(1, { userAddress, ttlMs: 7_200_002 });
    const late = await kept(1, { ttlMs: 7_100_000 });
    const { lookNow, asked, atOnce } = looks(new Map([[userAddress, 1]]), { looksMax: 3, chatAtOnce: 1 });
    await lookNow();
    expect(asked).toEqual([userAddress, userAddress]);
    expect(asked).not.toContain(late.userAddress);
    expect(atOnce.most).toBe(1);
    expect(await rowOf(elsewhere)).toBeDefined();
  });

  test('ask about as many buyers at once as they may', async () => {
    for (let n = 0; n < 5; n += 1) await kept(1);
    const { lookNow, atOnce } = looks(new Map(), { chatAtOnce: 3 });
    await lookNow();
    expect(atOnce.most).toBe(3);
  });

  test('come once in their time, by the clock that may be moved', async () => {
    const { userAddress } = await kept(1);
    const { loop, asked, turns } = looks(new Map([[userAddress, 1]]), { pollMs: 1 });
    const looked = () => asked.filter((one) => one === userAddress).length;
    const someTurns = async () => {
      const before = turns.count;
      await expect.poll(() => turns.count).toBeGreaterThan(before + 3);
      return looked();
    };
    loop.start();
    try {
      ledger.clock.advance(LOOK_MS - 1);
      expect(await someTurns()).toBe(0);
      ledger.clock.advance(1);
      await expect.poll(looked).toBe(1);
      expect(await someTurns()).toBe(1);
      ledger.clock.advance(LOOK_MS - 1);
      expect(await someTurns()).toBe(1);
      ledger.clock.advance(1);
      await expect.poll(looked).toBe(2);
    } finally {
      await loop.stop();
    }
  });
});
