/** What time alone ends is listed at the moment at which it ends, and has ended then. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRAND, perk, startConstraintsKit } from '../../contract/constraints/kit.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { siteVisitor } from '../../kits/site/site-visitor.ts';

const START_MS = Date.UTC(2031, 0, 6, 12);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const [ALICE, BOB] = ['alice@demo.example', 'bob@demo.example'];

describe.each(databaseKinds)('on $kind', ({ open }) => {
  let kit: Awaited<ReturnType<typeof startConstraintsKit>>;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    kit = await startConstraintsKit(database, { clockStartMs: START_MS, frozen: true });
  }, 60_000);
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });

  test('windows, limits, streaks, boards, constraints, keys, tokens and sessions', async () => {
    const { ready } = kit;
    const { alice } = kit.users;
    const control = async (path: string, body: unknown) => {
      const answer = await kit.control(path, body);
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    const bob = { brandId: BRAND, userIdentifier: BOB, platform: 'web', streakType: 'daily' };
    expect(await kit.post('/streak/record-activity', bob)).toMatchObject({ status: 200 });
    await kit.change(`/brands/${BRAND}`, { spendPerHour: 100 });
    await kit.event({ userEmail: ALICE });
    expect((await kit.event({ userEmail: BOB })).body.details.reason).toBe('spend_limit');
    expect((await kit.buy(alice, perk.asks)).status).toBe(200);
    const rotated = await control(`/brands/${BRAND}/keys`, { overlap: '2h' });
    const { token } = await control('/tokens', { user: ALICE, expires: '3h' });
    await control('/site/users', { login: 'dora', email: 'dora@demo.example', password: 'dora is here' });
    const visitor = siteVisitor(ready.urls.site);
    await visitor.logIn('dora', 'dora is here');
    const knowsDora = async () => (await visitor.get('/profile')).html.includes('dora@demo.example');
    expect(await knowsDora()).toBe(true);

    const before = (await kit.advance(`${14 * DAY - 1}ms`)).body;
    expect(await knowsDora()).toBe(true);
    const last = (await kit.advance('1ms')).body;
    const fired = [...before.fired, ...last.fired].map(({ at, kind, what }) => [
      kind,
      Date.parse(at) - START_MS,
      what,
    ]);
    const { keys } = (await kit.request(`${ready.urls.control}/brands/${BRAND}`)).body;
    const old = keys.find(({ keyId }: { keyId: string }) => keyId !== rotated.keyId).keyId;
    for (const one of [
      ['window-reset', HOUR, `relay user ${alice.address}: 1 used, all free again`],
      ['constraint-expiry', 60 * SECOND, `what ${kit.url} said of ${alice.address} no longer counts`],
      ['spend-reset', HOUR, 'Constrained gave 100 RWT in its hour, all of the limit is free again'],
      ['key-expiry', 2 * HOUR, `the key ${old} of Constrained ends`],
      ['token-expiry', 3 * HOUR, `a token of ${ALICE} expires`],
      ['board-end', 12 * HOUR, 'the day of a leaderboard of Constrained is over'],
      ['board-end', 6.5 * DAY, 'the week of a leaderboard of Constrained is over'],
      // The usual grace is 36 hours, the last millisecond included.
      ['streak-end', 1.5 * DAY + 1, `the daily streak of ${BOB} with Constrained ends after 1 days`],
      ['session-expiry', 14 * DAY, 'a session of dora on the demo site ends'],
    ])
      expect(fired).toContainEqual(one);
    expect((await control('/tokens/verify', { token })).verifies).toBe(false);
    expect((await kit.event({ userEmail: BOB })).status).toBe(200);
    expect(await knowsDora()).toBe(false);
  }, 60_000);

  test('a streak is alive one millisecond before its end, and over at it', async () => {
    const user = 'carol@demo.example';
    await kit.advance('1h');
    const wish = { brandId: BRAND, userIdentifier: user, platform: 'web', streakType: 'daily' };
    expect(await kit.post('/streak/record-activity', wish)).toMatchObject({ status: 200 });
    const days = async () =>
      (await kit.request(`/streak/status/${BRAND}/${encodeURIComponent(user)}`)).body.currentStreak;
    const { fired } = (await kit.advance('1ms')).body;
    expect(fired).toEqual([]);
    const now = async () => (await kit.request(`${kit.ready.urls.control}/clock`)).body.nowMs as number;
    const recordedMs = (await now()) - 1;
    const endsMs = recordedMs + 1.5 * DAY + 1;
    await kit.control('/clock', { set: endsMs - 1 });
    expect(await days()).toBe(1);
    const ended = (await kit.advance('1ms')).body.fired;
    expect(ended.map(({ kind }: { kind: string }) => kind)).toContain('streak-end');
    expect(await days()).toBe(0);
  });
});
