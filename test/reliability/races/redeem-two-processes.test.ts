/** Redemptions when two processes share one database and everybody comes at once: never beyond a user's RWT or the stock. */
import { beforeAll, expect, test } from 'vitest';
import {
  heldOnChain,
  MUG,
  mintTo,
  personWith,
  redeemBody,
  redeemedOnChain,
  WALLPAPERS,
} from '../../kits/chain/redeeming.ts';
import { relayKitOf } from '../../kits/chain/wallet.ts';
import { onTwoProcesses } from '../../kits/service/two-processes.ts';

const AT_ONCE = 200;

onTwoProcesses((get) => {
  let kit: Awaited<ReturnType<typeof relayKitOf>>;
  beforeAll(async () => {
    kit = await relayKitOf(get().one.ready);
  }, 60_000);
  /** Spread over the processes. */
  const redeem = (email: string, n: number) => {
    const client = get().nth(n);
    return client.post('/perks/redeem', redeemBody(client, email, MUG.id));
  };
  /** The kit sells perks past the service, which a comparison rightly names. */
  const verified = () => get().agree('perk_');

  test(`${AT_ONCE} at once with money for one: one code, and the balance is never negative`, async () => {
    const { one } = get();
    const { email, wallet } = await personWith(one, MUG.cost + 100);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => redeem(email, n)));
    const codes = answers.flatMap(({ status, body }) => (status === 200 ? [body.confirmationCode] : []));
    expect(codes).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.details.reason}`))).toEqual(
      new Set(['400 insufficient_balance']),
    );
    expect(await one.balanceOf(wallet)).toBe(100n);
    expect(await heldOnChain(one, wallet, MUG.tokenId)).toBe(1n);
    const { collected } = await redeemedOnChain(one);
    expect(collected.filter(({ args }) => args.user?.toLowerCase() === wallet.toLowerCase())).toHaveLength(1);
    await verified();
  }, 120_000);

  test(`${AT_ONCE} at once for what the brand has paid once, by a user who has more: one is collected`, async () => {
    const { one } = get();
    const { email, wallet } = await personWith(one, MUG.cost + 100);
    await mintTo(one, wallet, 10_000);
    const named = [email, wallet, `0x${wallet.slice(2).toUpperCase()}`];
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => redeem(named[n % named.length] ?? email, n)),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(AT_ONCE - 1);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.details.reason}`))).toEqual(
      new Set(['403 consent_required']),
    );
    expect(new Set(refused.map(({ body }) => body.details.collectable))).toEqual(new Set([100]));
    expect(await one.balanceOf(wallet)).toBe(10_100n);
    await verified();
  }, 120_000);

  test('a stock of two is sold twice, by relay and redemption together', async () => {
    const { one } = get();
    await kit.setPerk(BigInt(MUG.tokenId), 0n, 2n);
    const redeemers = await Promise.all(Array.from({ length: 12 }, () => personWith(one, 0)));
    for (const client of [get().one, get().two]) {
      const asked = redeemBody(client, redeemers[0]?.email ?? '', MUG.id);
      const cost = async () => (await client.post('/perks/check-eligibility', asked)).body.perkCost;
      await expect.poll(cost).toBe(0);
    }
    const buyers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => kit.keyless(`stock-buyer-${n}@people.example`)),
    );
    const [redeemed, bought] = await Promise.all([
      Promise.all(redeemers.map(({ email }, n) => redeem(email, n))),
      Promise.all(buyers.map((user) => kit.relay(user, kit.purchase(user.address, BigInt(MUG.tokenId), 0n)))),
    ]);
    const heldBy = (wallet: `0x${string}`) => heldOnChain(one, wallet, MUG.tokenId);
    const ofRedeemers = await Promise.all(redeemers.map(({ wallet }) => heldBy(wallet)));
    const ofBuyers = await Promise.all(buyers.map(({ address }) => heldBy(address)));
    expect([...ofRedeemers, ...ofBuyers].reduce((sum, held) => sum + held, 0n)).toBe(2n);
    // Exactly the users who were told a code have the perk.
    for (const [place, { status, body }] of redeemed.entries()) {
      expect(ofRedeemers[place]).toBe(status === 200 ? 1n : 0n);
      if (status !== 200) expect(['perk_sold_out', 'redemption_failed']).toContain(body.details.reason);
    }
    expect(bought.length).toBe(12);
    await verified();
  }, 120_000);

  test(`a code that ${AT_ONCE} use at once is used once`, async () => {
    const { one, nth } = get();
    const { email } = await personWith(one, WALLPAPERS.cost);
    const redeemed = await one.post('/perks/redeem', redeemBody(one, email, WALLPAPERS.id));
    const code = redeemed.body.confirmationCode as string;
    const headers = { authorization: `Bearer ${one.brand.apiKey}` };
    const body = { brandId: one.brand.brandId, code };
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => nth(n).post('/perks/use-code', body, headers)),
    );
    const used = answers.filter(({ status }) => status === 200);
    expect(used.map((answer) => answer.body.state)).toEqual(['used']);
    const refused = answers.filter(({ status }) => status !== 200);
    const { usedAt } = used[0]?.body ?? {};
    // All others are told when it was used, and no later use has moved that moment.
    expect(new Set(refused.map((answer) => `${answer.status} ${answer.body.details.reason}`))).toEqual(
      new Set(['409 code_not_usable']),
    );
    expect(new Set(refused.map((answer) => answer.body.details.usedAt))).toEqual(new Set([usedAt]));
    for (const client of [get().one, get().two]) {
      const shown = await client.post('/perks/check-code', body, headers);
      expect(shown.body).toMatchObject({ state: 'used', usedAt });
    }
  }, 120_000);
});
