/** A user whom a site names by number for streaks and perks, and by e-mail for events: one user, one wallet, paid once. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, bearer, onEachDatabase, open, shop } from '../kit.ts';

/** A Monday, at noon. */
const START_MS = Date.UTC(2031, 0, 6, 12);
let numbers = 1000;

onEachDatabase(
  'aliases',
  (get) => {
    /** A user as a site's plugin names them: by its own number, and by their e-mail. */
    const person = () => {
      const id = String(++numbers);
      return { id, email: someone(), alias: `wordpress_${id}@rewards.localhost` };
    };
    type Person = ReturnType<typeof person>;
    const link = ({ alias, email }: Person, of = shop) =>
      get().control(`/brands/${of.brandId}/aliases`, { alias, user: email });
    const byNumber = ({ id }: Person, of = shop) => ({
      brandId: of.brandId,
      domain: of.domain,
      userIdentifier: id,
      platform: 'wordpress',
    });
    const checkIn = (who: object) => get().post('/streak/record-activity', who);
    const byEmail = ({ email }: Person, of = shop) => ({
      brandId: of.brandId,
      domain: of.domain,
      userIdentifier: email,
      platform: 'web',
    });
    const statsOf = async (user: string, of = shop, platform = 'wordpress') =>
      (await get().request(`/user-stats/${of.brandId}/${encodeURIComponent(user)}?platform=${platform}`))
        .body;
    const walletOf = async ({ email }: Person, of = shop) =>
      (await get().post(`${API}/user-balance`, { brandId: of.brandId, userEmail: email })).body;

    test('a week of both names ends in one wallet, and each day and order is paid once', async () => {
      const ann = person();
      expect((await link(ann)).status).toBe(201);
      for (let day = 0; day < 7; day++) {
        await get().setClock(START_MS + day * 86_400_000);
        const first = await checkIn(day % 2 ? byEmail(ann) : byNumber(ann));
        expect([first.status, first.body.currentStreak]).toEqual([200, day + 1]);
        const again = await checkIn(day % 2 ? byNumber(ann) : byEmail(ann));
        expect([again.body.isNewActivity, again.body.reward.final]).toEqual([false, 0]);
      }
      const claim = { milestoneDays: 7, streakType: 'daily' };
      expect((await get().post('/streak/claim-milestone', { ...byNumber(ann), ...claim })).status).toBe(200);
      const twice = await get().post('/streak/claim-milestone', { ...byEmail(ann), ...claim });
      expect(twice.body.error).toBe('Milestone already claimed');
      const platformUser = { platform: 'wordpress', platformUserId: ann.id };
      expect((await get().send(shop, { userEmail: ann.email })).body.rewardAmount).toBe(10);
      await get().advance('2h');
      const other = await get().send(shop, { userIdentifier: platformUser, userEmail: undefined });
      expect(other.status).toBe(429);
      const order = { eventType: 'shipped', metadata: { order_id: 'A-1' } };
      expect((await get().send(shop, { userIdentifier: platformUser, ...order })).status).toBe(200);
      expect((await get().send(shop, { userEmail: ann.email, ...order })).body.details.reason).toBe(
        'already_rewarded',
      );
      // 10 10 11 11 11 11 12, the milestone, two events.
      const { balance, walletAddress, otherWallets } = await walletOf(ann);
      expect([balance, otherWallets]).toEqual([76 + 100 + 20, undefined]);
      expect(Number(await get().balanceOf(walletAddress))).toBe(196);
      const stats = await statsOf(ann.id);
      expect(stats).toMatchObject({ balance: 196, lifetime: { earned: 196, claims: 10 } });
      expect(await statsOf(ann.email)).toEqual(stats);
      const board = await get().request(
        `/leaderboard/${shop.brandId}?userIdentifier=${ann.id}&platform=wordpress&metric=claims`,
      );
      expect(board.status).toBe(200);
    });

    test('linked after both have wallets: what either had counts for both, and the other wallet stays', async () => {
      await get().advance('3d');
      const ben = person();
      const platformUser = { platform: 'wordpress', platformUserId: ben.id };
      const order = { eventType: 'shipped', metadata: { order_id: 'B-1' } };
      expect((await checkIn(byNumber(ben))).body.reward.final).toBe(10);
      expect((await get().send(shop, { userIdentifier: platformUser })).status).toBe(200);
      expect((await get().send(shop, { userIdentifier: platformUser, ...order })).status).toBe(200);
      expect((await get().send(shop, { userEmail: ben.email, eventType: 'hourly' })).status).toBe(200);
      const linked = await link(ben);
      expect(linked.body).toMatchObject({ alias: ben.alias, user: ben.email });
      expect(linked.body.aliasWallet).not.toBe(linked.body.userWallet);
      expect(await link(ben)).toMatchObject({ status: 201 });

      const today = await checkIn(byEmail(ben));
      expect([today.body.isNewActivity, today.body.currentStreak]).toEqual([false, 1]);
      await get().advance('2m');
      expect((await get().send(shop, { userEmail: ben.email })).status).toBe(429);
      expect((await get().send(shop, { userEmail: ben.email, ...order })).status).toBe(409);
      const cooling = await get().send(shop, { userIdentifier: platformUser, eventType: 'hourly' });
      expect(cooling.body.details.reason).toBe('cooldown');
      const { balance, walletAddress, otherWallets } = await walletOf(ben);
      expect([balance, walletAddress]).toEqual([10, linked.body.userWallet]);
      expect(otherWallets).toEqual([{ walletAddress: linked.body.aliasWallet, balance: 30 }]);
      expect((await statsOf(ben.id)).otherWallets).toEqual(otherWallets);
      await get().advance('1d');
      const next = await checkIn(byNumber(ben));
      expect([next.body.currentStreak, next.body.reward.final]).toEqual([2, 10]);
      expect(Number(await get().balanceOf(linked.body.aliasWallet))).toBe(30);
      expect((await walletOf(ben)).balance).toBe(20);
    });

    test("an alias is of one brand: another brand's user of the same number stays who they are", async () => {
      const cleo = person();
      await link(cleo);
      const named = { userIdentifier: { platform: 'wordpress', platformUserId: cleo.id } };
      expect((await get().send(open, named)).status).toBe(200);
      expect((await get().send(shop, { userEmail: cleo.email })).status).toBe(200);
      expect((await walletOf(cleo, open)).otherWallets).toBeUndefined();
      expect((await statsOf(cleo.id, open)).lifetime).toMatchObject({ claims: 1 });
      expect((await statsOf(cleo.email, open)).lifetime).toMatchObject({ claims: 0 });
    });

    test('many events under both names while they are linked: a rule of one claim pays once', async () => {
      await get().advance('1d');
      const dora = person();
      const named = { userIdentifier: { platform: 'wordpress', platformUserId: dora.id } };
      const [, ...answers] = await Promise.all([
        link(dora),
        ...Array.from({ length: 20 }, (_, n) => get().send(shop, n % 2 ? named : { userEmail: dora.email })),
      ]);
      const before = answers.filter(({ status }) => status === 200).length;
      // Those that were decided before the link were two users; after it there is one, who has claimed.
      expect(before).toBeLessThanOrEqual(2);
      expect(before).toBeGreaterThanOrEqual(1);
      await get().advance('25h');
      expect((await get().send(shop, named)).body.details.reason).toBe('max_claims_reached');
      expect((await get().send(shop, { userEmail: dora.email })).body.details.reason).toBe(
        'max_claims_reached',
      );
    });

    test('removed, it is a user of its own again; lists show both wallets', async () => {
      const emil = person();
      await link(emil);
      const path = `/brands/${shop.brandId}/aliases`;
      const control = (of: string, init?: RequestInit) =>
        get().request(`${get().ready.urls.control}${of}`, init);
      const { body } = await control(path);
      expect(body.aliases).toContainEqual(
        expect.objectContaining({ alias: emil.alias, user: emil.email, aliasWallet: null, userWallet: null }),
      );
      const gone = await control(`${path}/${encodeURIComponent(emil.alias)}`, { method: 'DELETE' });
      expect(gone.body).toEqual({ removed: emil.alias });
      expect((await control(`${path}/${encodeURIComponent(emil.alias)}`, { method: 'DELETE' })).status).toBe(
        400,
      );
      expect((await get().send(shop, { userEmail: emil.email })).status).toBe(200);
      const named = { userIdentifier: { platform: 'wordpress', platformUserId: emil.id } };
      expect((await get().send(shop, named)).status).toBe(200);
    });

    test("events with the brand's key teach which number is whose; strangers teach nothing", async () => {
      await get().advance('1d');
      const gia = person();
      const event = { userEmail: gia.email, eventType: 'hourly', metadata: { user_id: Number(gia.id) } };
      const isLinked = async () =>
        (await get().request(`${get().ready.urls.control}/brands/${shop.brandId}/aliases`)).body.aliases.some(
          (one: { alias: string; user: string }) => one.alias === gia.alias && one.user === gia.email,
        );
      expect((await get().set(shop, { domainUsers: 'wordpress' })).status).toBe(400);
      await get().set(shop, { domainUsers: 'wordpress_{id}' });
      expect((await checkIn(byNumber(gia))).status).toBe(200);
      expect((await get().send(shop, { ...event, userEmail: someone() })).status).toBe(200);
      expect((await get().send(shop, event)).status).toBe(200);
      expect(await isLinked()).toBe(false);
      await get().advance('1h');
      const asked = await get().post(
        `${API}/check-eligibility`,
        { brandId: shop.brandId, ...event },
        bearer(shop),
      );
      expect([asked.body.eligible, await isLinked()]).toEqual([true, false]);
      expect((await get().send(shop, event, bearer(shop))).status).toBe(200);
      expect(await isLinked()).toBe(true);
      expect((await checkIn(byEmail(gia))).body.isNewActivity).toBe(false);
      // Another e-mail beside the number changes nothing.
      const other = { ...event, userEmail: someone() };
      expect((await get().send(shop, other, bearer(shop))).status).toBe(200);
      expect(await isLinked()).toBe(true);
      await get().advance('1h');
      expect((await get().send(shop, event, bearer(shop))).status).toBe(200);
      await get().set(shop, { domainUsers: 'none' });
      expect((await walletOf(gia)).otherWallets).toHaveLength(1);
    });

    test('what is no pair of users is refused', async () => {
      const [fay, gus] = [person(), person()];
      const refused = async (alias: unknown, user: unknown) => {
        const answer = await get().control(`/brands/${shop.brandId}/aliases`, { alias, user });
        return [answer.status, JSON.stringify(answer.body)];
      };
      expect(await refused('0x00000000000000000000000000000000000c0ffe', fay.email)).toEqual([
        400,
        expect.stringContaining('must be an e-mail'),
      ]);
      expect(await refused(fay.alias, undefined)).toEqual([
        400,
        expect.stringContaining('must be an e-mail'),
      ]);
      expect(await refused(fay.alias, fay.alias)).toEqual([400, expect.stringContaining('already')]);
      await link(fay);
      expect(await refused(fay.alias, gus.email)).toEqual([
        400,
        expect.stringContaining(`is an alias of ${fay.email} already`),
      ]);
      expect(await refused(fay.email, fay.alias)).toEqual([400, expect.stringContaining('already')]);
      // An alias of an alias is one of the user's own.
      const nested = await get().control(`/brands/${shop.brandId}/aliases`, {
        alias: gus.alias,
        user: fay.alias,
      });
      expect(nested.body.user).toBe(fay.email);
    });

    test('ledger and chain agree', async () => {
      expect(bearer(shop).authorization).toMatch(/^Bearer /);
      await expect
        .poll(async () => (await get().request(`${get().ready.urls.control}/verify`)).body.differences)
        .toEqual([]);
    });
  },
  { clockStartMs: START_MS },
);
