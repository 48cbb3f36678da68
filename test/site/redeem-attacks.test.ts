/** A visitor of the site redeems and names somebody else's RWT in every way: nothing is debited but what the brand paid the visitor. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rewardTokenAbi } from '../../src/chain/contracts/abis.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { mintTo, personWith, redeemedOnChain, WALLPAPERS } from '../kits/chain/redeeming.ts';
import { type Answer, someone, startTestService, type TestService } from '../kits/service/service.ts';
import { startTestSite, type TestSite } from '../kits/site/site.ts';

const REDEEM = '/wp-json/rewards/v1/redeem';
const SHOP: Hex = `0x${'5'.repeat(39)}c`;
const REWARD = 100;

describe.each(['open', 'key'])('where redemptions are %s', (redemptions) => {
  let service: TestService;
  let site: TestSite;
  let shopKey: string;
  beforeAll(async () => {
    service = await startTestService({ clockStartMs: Date.UTC(2031, 0, 15, 12) });
    const { brandId, apiKey } = service.brand;
    const shop = { brandId: SHOP, name: 'Shop', domains: ['shop.example'], escrow: 100_000 };
    shopKey = (await service.control('/brands', { ...shop, domainless: 'allow' })).body.apiKey;
    await service.change(`/brands/${SHOP}/rules/account_creation`, { reward: 500 });
    await service.change(`/brands/${brandId}`, { redemptions });
    const { events, services } = service.ready.urls;
    site = await startTestSite({
      brandId,
      eventHandlerUrl: events,
      servicesUrl: services,
      apiKey: redemptions === 'key' ? (apiKey as string) : '',
    });
  });
  beforeEach(() => site.clock.advance(25 * 3_600_000));
  afterAll(async () => {
    await site?.stop();
    await service?.stop();
  });

  const balanceOf = (wallet: Hex) =>
    service.chain.readContract({
      address: service.ready.contracts.token as Hex,
      abi: rewardTokenAbi,
      functionName: 'balanceOf',
      args: [wallet],
    });
  async function rich(wallet: Hex): Promise<Hex> {
    await mintTo(service, wallet, 5_000);
    return wallet;
  }
  /** A user of the other brand alone. */
  async function userOfShop(user: object): Promise<Hex> {
    const event = { brandId: SHOP, eventType: 'account_creation', domain: 'shop.example', ...user };
    const authorization = `Bearer ${shopKey}`;
    const { status, body } = await service.post('/rewards-api/manual-event', event, { authorization });
    expect([status, body.success]).toEqual([200, true]);
    return body.walletAddress;
  }
  let people = 0;

  /** Whose RWT the visitor wants, and how a request would name them. */
  const victims: [string, () => Promise<{ names: string; platform?: string; wallet: Hex }>][] = [
    ['the wallet of another brand', async () => ({ names: SHOP, wallet: await rich(SHOP) })],
    [
      'the wallet of the brand',
      async () => ({ names: service.brand.brandId, wallet: await rich(service.brand.brandId as Hex) }),
    ],
    [
      "a brand's gas wallet",
      async () => {
        const { body } = await service.request(`${service.ready.urls.control}/brands/${SHOP}`);
        const wallet = await rich(body.gasWallet.address);
        return { names: wallet, wallet };
      },
    ],
    [
      'the escrow',
      async () => {
        const wallet = service.ready.contracts.escrow as Hex;
        return { names: wallet, wallet };
      },
    ],
    [
      'somebody whom no brand knows',
      async () => {
        const at = { accountIndex: 8, addressIndex: ++people };
        const wallet = await rich(devAccount(at).address);
        return { names: wallet, wallet };
      },
    ],
    [
      "another brand's user, by address in upper case",
      async () => {
        const wallet = await userOfShop({ userEmail: someone() });
        return { names: `0x${wallet.slice(2).toUpperCase()}`, wallet };
      },
    ],
    [
      "another brand's user, by e-mail",
      async () => {
        const names = someone();
        return { names, wallet: await userOfShop({ userEmail: names }) };
      },
    ],
    [
      "another brand's user, by e-mail in upper case",
      async () => {
        const userEmail = someone();
        return { names: userEmail.toUpperCase(), wallet: await userOfShop({ userEmail }) };
      },
    ],
    [
      "another brand's user, by their id on a platform",
      async () => {
        const names = `9876543210987${10_000 + ++people}`;
        const wallet = await userOfShop({ userIdentifier: { platform: 'discord', platformUserId: names } });
        return { names, platform: 'discord', wallet };
      },
    ],
    [
      "the brand's own user, who is not the visitor",
      async () => {
        const { email, wallet } = await personWith(service, REWARD);
        return { names: email, wallet };
      },
    ],
  ];

  /** Every field by which some API names a user, a wallet or a payer. */
  const naming = ({ names, platform }: { names: string; platform?: string }, wallet: Hex) => ({
    perkId: WALLPAPERS.id,
    userIdentifier: names,
    platform: platform ?? 'web',
    ...Object.fromEntries(
      ['user', 'userEmail', 'email', 'user_email', 'userId', 'user_id', 'login'].map((name) => [name, names]),
    ),
    ...Object.fromEntries(
      ['wallet', 'walletAddress', 'userAddress', 'address', 'from', 'owner'].map((name) => [name, wallet]),
    ),
    brandId: SHOP,
    apiKey: shopKey,
    consent: 'token',
    permit: {
      owner: wallet,
      spender: service.ready.contracts.escrow,
      value: '5000',
      deadline: '4102444800',
      v: 27,
      r: `0x${'1'.repeat(64)}`,
      s: `0x${'1'.repeat(64)}`,
    },
  });
  type Visitor = Awaited<ReturnType<TestSite['person']>>;
  type Body = ReturnType<typeof naming>;
  const asText = (body: Body) =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
  const ways: [string, (visitor: Visitor, body: Body) => Promise<Answer>][] = [
    [
      'a session and its nonce',
      async (visitor, body) => site.post(REDEEM, body, (await site.browser(visitor)).headers),
    ],
    ['an application password', (visitor, body) => site.post(REDEEM, body, visitor.basic)],
    [
      'an application password, in the address as well',
      (visitor, body) =>
        site.post(`${REDEEM}?${new URLSearchParams(asText(body))}`, body, {
          ...visitor.basic,
          'x-user-email': body.userIdentifier,
          'x-api-key': shopKey,
        }),
    ],
    [
      'the form of a page',
      async (visitor, body) => {
        const { cookie, nonce } = await site.browser(visitor);
        return site.request('/actions/redeem', {
          method: 'POST',
          headers: { cookie },
          body: new URLSearchParams({ ...asText(body), _nonce: nonce('form') }),
        });
      },
    ],
  ];

  describe.each(ways)('with %s', (_, redeem) => {
    it.each(victims)('a visitor who names %s debits nobody but the visitor', async (_who, victimOf) => {
      const { wallet, ...victim } = await victimOf();
      const before = await balanceOf(wallet);
      expect(before).toBeGreaterThanOrEqual(BigInt(WALLPAPERS.cost));
      const { collected } = await redeemedOnChain(service);

      const poor = await site.person();
      const refused = await redeem(poor, naming(victim, wallet));
      expect(refused.status === 200 && refused.body.success === true).toBe(false);
      expect((await redeemedOnChain(service)).collected).toHaveLength(collected.length);
      expect(await balanceOf(wallet)).toBe(before);

      const earner = await site.person();
      const rewarded = await service.event({ userEmail: earner.email });
      const own = rewarded.body.walletAddress as Hex;
      expect(await balanceOf(own)).toBe(BigInt(REWARD));
      const held = await balanceOf(wallet);
      const answer = await redeem(earner, naming(victim, wallet));
      expect([answer.status, answer.body?.message]).toEqual([expect.toBeOneOf([200, 303]), undefined]);
      expect(await balanceOf(own)).toBe(BigInt(REWARD - WALLPAPERS.cost));
      // The escrow gets what the visitor pays.
      const isPayee = wallet === service.ready.contracts.escrow;
      expect(await balanceOf(wallet)).toBe(held + BigInt(isPayee ? WALLPAPERS.cost : 0));
      expect((await redeemedOnChain(service)).collected).toHaveLength(collected.length + 1);
    });
  });

  it("a visitor who registers with the e-mail of another brand's user spends nothing of that brand's", async () => {
    const email = someone();
    const wallet = await userOfShop({ userEmail: email });
    const login = email.split('@')[0] ?? '';
    const password = 'correct horse battery';
    await site.site.accounts.addUser({ login, email, displayName: login, password });
    const { headers } = await site.browser({ login, password });
    const answer = await site.post(REDEEM, { perkId: WALLPAPERS.id }, headers);
    expect([answer.status, answer.body.code]).toEqual([400, 'redeem_failed']);
    expect(await balanceOf(wallet)).toBe(500n);
  });
});
