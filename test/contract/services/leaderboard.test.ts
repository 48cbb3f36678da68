/** GET leaderboard and POST leaderboard/update-stats: who did most, and what counts. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, onEachDatabase, open, poor, shop } from '../kit.ts';

onEachDatabase('leaderboard', (get) => {
  const ask = (query = '', brandId = shop.brandId, headers: Record<string, string> = {}) =>
    get().request(`/leaderboard/${brandId}${query}`, { headers });
  const report = (fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
    get().post('/leaderboard/update-stats', { brandId: shop.brandId, ...fields }, headers);
  const named = (user: string, query = '') => ask(`?userIdentifier=${encodeURIComponent(user)}${query}`);
  interface Entry {
    userIdentifier: string;
  }
  const usersOf = (body: { leaderboard: Entry[] }) => body.leaderboard.map((one) => one.userIdentifier);

  test('a brand of whose users nothing is known has an empty board', async () => {
    const { status, body } = await ask('', poor.brandId);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      leaderboard: [],
      rankings: [],
      metric: 'rwt_earned',
      period: 'week',
      platform: null,
      total: 0,
      userRank: null,
      userEntry: null,
    });
  });

  test('rewards count from the block that pays them, with everything that clients read', async () => {
    const [alice, bob, carol] = [someone(), someone(), someone()];
    for (const userEmail of [alice, bob, carol]) await get().send(open, { userEmail });
    await get().send(open, { userEmail: bob, eventType: 'hourly' });
    const { body } = await ask(`?userIdentifier=${encodeURIComponent(alice)}`, open.brandId);
    expect(body.total).toBe(3);
    expect(body.leaderboard.map(({ rank, value }: { rank: number; value: number }) => [rank, value])).toEqual(
      [
        [1, 20],
        [2, 10],
        [2, 10],
      ],
    );
    expect(body.leaderboard[0]).toEqual({
      rank: 1,
      userIdentifier: bob,
      userId: bob,
      platform: 'web',
      change: 0,
      username: bob.split('@')[0],
      displayName: bob.split('@')[0],
      value: 20,
      formattedValue: '20 RWT',
    });
    expect(body.rankings).toEqual(body.leaderboard);
    expect(body.userRank).toBe(2);
    expect(body.userEntry).toMatchObject({ userIdentifier: alice, rank: 2, value: 10 });
    const claims = (await ask('?metric=claims&period=all_time&limit=1', open.brandId)).body;
    expect(claims).toMatchObject({ metric: 'claims', period: 'all', total: 3 });
    expect(claims.leaderboard).toMatchObject([{ userIdentifier: bob, value: 2, formattedValue: '2 claims' }]);
    const stats = await get().request(`/user-stats/${open.brandId}/${encodeURIComponent(alice)}`);
    expect(stats.body.rank).toEqual({ server: 2, global: 2 });
  });

  test('users of a platform have boards of their own', async () => {
    const platformUserId = '123456789012340001';
    await get().send(shop, { userIdentifier: { platform: 'discord', platformUserId } });
    await get().send(shop, { userEmail: someone(), metadata: { platform: 'X' } });
    const { body } = await named(platformUserId, '&platform=discord&period=month');
    expect(body).toMatchObject({ platform: 'discord', period: 'month', total: 1, userRank: 1 });
    expect(body.leaderboard[0]).toMatchObject({ platform: 'discord', value: 10 });
    expect((await ask('?platform=twitter')).body.total).toBe(1);
    expect((await ask('?platform=telegram')).body.total).toBe(0);
    const user = `/user-stats/${shop.brandId}/${platformUserId}?platform=discord`;
    expect((await get().request(user)).body.rank.server).toBe(1);
  });

  test('a report counts activity, names the user, and adds RWT that were earned elsewhere', async () => {
    const user = someone();
    const told = await report(
      { userIdentifier: user, platform: 'slack', rwtAmount: 40, claimType: 'quiz', displayName: ' Zoë ' },
      bearer(shop),
    );
    expect([told.status, told.body]).toEqual([200, { success: true, updated: true, counted: true }]);
    const { userEntry } = (await named(user, '&platform=slack')).body;
    expect(userEntry).toMatchObject({ value: 40, displayName: 'Zoë', username: 'Zoë', platform: 'slack' });
    expect((await named(user, '&metric=activity')).body.userEntry.formattedValue).toBe('1 activity');
    // Nothing was paid, and nothing that the user has earned from the service changed.
    const { body } = await get().request(`/user-stats/${shop.brandId}/${encodeURIComponent(user)}`);
    expect(body).toMatchObject({ balance: 0, lifetime: { earned: 0, claims: 0 } });
  });

  test('what the service pays by itself is not counted twice when a client reports it too', async () => {
    const user = someone();
    await get().send(shop, { userEmail: user });
    const told = await report({ userIdentifier: user, rwtAmount: 10, claimType: 'once' }, bearer(shop));
    expect(told.body).toEqual({ success: true, updated: true, counted: false });
    expect((await named(user)).body.userEntry.value).toBe(10);
    const claims = (await named(user, '&metric=claims')).body;
    expect(claims.userEntry.value).toBe(1);
    // Another name of it, which other clients use.
    const { updatedAt: _, ...completed } = (await named(user, '&metric=events_completed')).body;
    expect({ ...completed, updatedAt: claims.updatedAt }).toEqual(claims);
  });

  test('where the brand asks for its key, a report without it changes nothing', async () => {
    const user = someone();
    await get().set(shop, { engagementWrites: 'credential' });
    const refused = await report({ userIdentifier: user, rwtAmount: 5 });
    const admitted = await report({ userIdentifier: user, rwtAmount: 6 }, bearer(shop));
    await get().set(shop, { engagementWrites: 'open' });
    expect([refused.status, refused.body.details.reason]).toEqual([401, 'brand_key_required']);
    expect(admitted.status).toBe(200);
    expect((await named(user)).body.userEntry.value).toBe(6);
    expect((await report({ userIdentifier: user })).status).toBe(200);
  });

  test('e-mails are masked where the brand says so, but not for its own server, nor one’s own', async () => {
    const user = someone();
    await report({ userIdentifier: user, rwtAmount: 1_000 });
    await get().set(shop, { leaderboardUsers: 'masked' });
    const stranger = (await ask()).body;
    const own = (await named(user)).body;
    const server = (await ask('', shop.brandId, bearer(shop))).body;
    await get().set(shop, { leaderboardUsers: 'shown' });
    expect(stranger.leaderboard[0]).toMatchObject({
      userIdentifier: 's***@people.example',
      userId: 's***@people.example',
      username: 's***',
      displayName: 's***',
    });
    expect(JSON.stringify(stranger)).not.toContain(user.split('@')[0]);
    expect([usersOf(own)[0], own.userEntry.userIdentifier, usersOf(server)[0]]).toEqual([user, user, user]);
  });

  test.each([
    ['?metric=luck', /^metric: must be one of rwt_earned, activity, streak, claims/],
    ['?period=year', /^period: must be one of day, daily, week/],
    ['?limit=0', /^limit: must be a number from 1 to 100/],
    ['?limit=101', /^limit: must be a number from 1 to 100/],
    ['?userIdentifier=nobody', /^userIdentifier: must be an e-mail/],
    ['?platform=no%20name', /^platform: must be a platform name/],
  ])('%s: 400 that names the field', async (query, problem) => {
    const { status, body } = await ask(query);
    expect([status, body.error]).toEqual([400, 'Invalid request']);
    expect(body.details.errors).toEqual([expect.stringMatching(problem)]);
  });

  test.each([
    [{ rwtAmount: -1 }, /^rwtAmount: must be a whole number from 0 to 1000000/],
    [{ rwtAmount: 1_000_001 }, /^rwtAmount/],
    [{ rwtAmount: 1.5 }, /^rwtAmount/],
    [{ displayName: 'x'.repeat(65) }, /^displayName: must have at most 64 characters/],
    [{ userIdentifier: 'nobody' }, /^userIdentifier/],
  ])('a report with %j: 400', async (fields, problem) => {
    const { status, body } = await report({ userIdentifier: someone(), ...fields });
    expect(status).toBe(400);
    expect(body.details.errors).toEqual([expect.stringMatching(problem)]);
  });

  test('an unknown brand: 400', async () => {
    const brandId = `0x${'9'.repeat(40)}`;
    expect((await ask('', brandId)).body.error).toBe(`Brand not found: ${brandId}`);
    expect((await report({ brandId, userIdentifier: someone() })).body.error).toBe(
      `Brand not found: ${brandId}`,
    );
  });

  // Last: it moves the clock of the service into another month.
  test('a new week begins with an empty board, and the change is what was gained since the week before', async () => {
    const [first, second, third] = [someone(), someone(), someone()];
    const earn = (userIdentifier: string, rwtAmount: number) =>
      report({ userIdentifier, rwtAmount, platform: 'whatsapp' });
    const week = () => named(second, '&platform=whatsapp');
    for (const [user, amount] of [
      [first, 30],
      [second, 20],
      [third, 10],
    ] as const)
      await earn(user, amount);
    expect((await week()).body).toMatchObject({ total: 3, userRank: 2 });
    await get().advance('7d');
    expect((await week()).body).toMatchObject({ total: 0, userRank: null, leaderboard: [] });
    await earn(second, 5);
    await earn(third, 4);
    const { body } = await week();
    expect(usersOf(body)).toEqual([second, third]);
    expect(body.leaderboard.map(({ change }: { change: number }) => change)).toEqual([1, 1]);
    expect((await named(third, '&platform=whatsapp&period=all')).body.userEntry).toMatchObject({
      value: 14,
      rank: 3,
      change: 0,
    });
    expect((await named(second, '&platform=whatsapp&period=daily')).body).toMatchObject({
      period: 'day',
      total: 2,
      userRank: 1,
    });
  });
});
