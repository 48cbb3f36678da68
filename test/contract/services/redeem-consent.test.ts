/** Redemptions by consent: nobody's RWT is debited on another's word beyond what the brand itself has paid that user. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { devPaths } from '../../../src/lib/development.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { devAccount } from '../../kits/chain/dev-accounts.ts';
import {
  freshKey,
  mintTo,
  payMore,
  redeemBody,
  redeemedOnChain,
  WALLPAPERS,
} from '../../kits/chain/redeeming.ts';
import { type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { type Answer, someone } from '../../kits/service/service.ts';

const PRICE = WALLPAPERS.cost;
const SHOP: Hex = `0x${'5'.repeat(39)}b`;
const DISCORD_ID = '123456789012345678';

describe.each(databaseKinds.map((database, place) => ({ ...database, splitHosts: place % 2 === 1 })))(
  'on $kind, hosts apart: $splitHosts',
  ({ open, splitHosts }) => {
    let kit: RelayKit;
    let stopDatabase: () => Promise<void>;
    let shopKey: string;
    const limitAlarms: string[] = [];
    const note = (fields: Record<string, unknown>, message: string) => {
      if (fields.alarm === 'redemption_limit') limitAlarms.push(`${message}: ${fields.about}`);
    };
    const log = { debug() {}, info: note, warn: note, error: note };
    beforeAll(async () => {
      const { databaseUrl, stop } = await open();
      stopDatabase = stop;
      kit = await startRelayKit({ splitHosts, log, ...(databaseUrl && { databaseUrl }) });
      await kit.setPerk(BigInt(WALLPAPERS.tokenId), BigInt(PRICE));
      const shop = { brandId: SHOP, name: 'Shop', domains: ['shop.example'], escrow: 10_000 };
      const { body } = await kit.control('/brands', { ...shop, domainless: 'allow' });
      shopKey = body.apiKey;
      await kit.change(`/brands/${SHOP}/rules/account_creation`, { reward: 500 });
    });
    afterAll(async () => {
      await kit?.stop();
      await stopDatabase();
    });
    beforeEach(() => setting('open'));

    const setting = (redemptions: string) => kit.change(`/brands/${kit.brand.brandId}`, { redemptions });
    const key = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
    const ask = (path: string, user: string, more: object = {}, headers: Record<string, string> = {}) =>
      kit.post(
        `${kit.ready.urls.services}/perks/${path}`,
        { ...redeemBody(kit, user, WALLPAPERS.id), ...more },
        headers,
      );
    const redeem = (user: string, more?: object, headers?: Record<string, string>) =>
      ask('redeem', user, more, headers);
    const refused = (status: number, reason: string) => ({ status, body: { details: { reason } } });
    /** Somebody whom a brand has paid, and the wallet that it went to. */
    async function paidBy(brandId: string, user: object): Promise<Hex> {
      const event = { brandId, eventType: 'account_creation', ...user };
      const { status, body } = await kit.post(`${kit.ready.urls.events}/rewards-api/manual-event`, event, {
        ...(brandId === SHOP && key(shopKey)),
      });
      expect([status, body.success]).toEqual([200, true]);
      return body.walletAddress;
    }
    const stranger = () => devAccount({ accountIndex: 7, addressIndex: ++strangers }).address;
    let strangers = 0;

    /** Every way to name RWT that the demo brand has not paid: how the request names it, and the wallet that has it. */
    const others: [string, () => Promise<{ names: string; platform?: string; wallet: Hex }>][] = [
      ['the wallet of a brand', async () => ({ names: SHOP, wallet: await rich(SHOP) })],
      [
        'the wallet of the brand that asks',
        async () => ({ names: kit.brand.brandId, wallet: await rich(kit.brand.brandId as Hex) }),
      ],
      [
        "a brand's gas wallet",
        async () => {
          const shown = await kit.request(`${kit.ready.urls.control}/brands/${SHOP}`);
          const wallet = await rich(shown.body.gasWallet.address);
          return { names: wallet, wallet };
        },
      ],
      [
        'an account of the service',
        async () => {
          const { address } = devAccount({ path: devPaths.payout });
          return { names: address, wallet: await rich(address) };
        },
      ],
      ['the escrow', async () => ({ names: kit.contracts.escrow, wallet: kit.contracts.escrow })],
      [
        'somebody whom no brand knows',
        async () => {
          const wallet = await rich(stranger());
          return { names: wallet, wallet };
        },
      ],
      [
        "another brand's user, by e-mail",
        async () => {
          const userEmail = someone();
          return { names: userEmail, wallet: await paidBy(SHOP, { userEmail }) };
        },
      ],
      [
        "another brand's user, by address",
        async () => {
          const wallet = await paidBy(SHOP, { userEmail: someone() });
          return { names: wallet, wallet };
        },
      ],
      [
        "another brand's user, by address in upper case",
        async () => {
          const wallet = await paidBy(SHOP, { userEmail: someone() });
          return { names: `0x${wallet.slice(2).toUpperCase()}`, wallet };
        },
      ],
      [
        "another brand's user, by an address of their own",
        async () => {
          const wallet = stranger();
          await paidBy(SHOP, { userIdentifier: wallet });
          return { names: wallet.toLowerCase(), wallet };
        },
      ],
      [
        "another brand's user, by their id on a platform",
        async () => {
          const id = `${DISCORD_ID.slice(0, -2)}${10 + ++strangers}`;
          const wallet = await paidBy(SHOP, { userIdentifier: { platform: 'discord', platformUserId: id } });
          return { names: id, platform: 'discord', wallet };
        },
      ],
    ];
    async function rich(wallet: Hex): Promise<Hex> {
      await mintTo(kit, wallet, 5_000);
      return wallet;
    }

    describe.each(others)('%s is not debited', (_, named) => {
      test.each<['open' | 'key' | 'token']>([['open'], ['key'], ['token']])(
        'whoever asks, where redemptions are %s',
        async (redemptions) => {
          const { names, platform = 'web', wallet } = await named();
          await setting(redemptions);
          const before = await kit.balanceOf(wallet);
          expect(before).toBeGreaterThanOrEqual(BigInt(PRICE));
          const { collected } = await redeemedOnChain(kit);
          const { bob } = kit.users;
          const callers: [Record<string, string>, string[]][] = [
            [{}, ['consent_required', 'brand_key_required']],
            [{ origin: 'https://demo.example' }, ['consent_required', 'brand_key_required']],
            [key(kit.brand.apiKey as string), ['consent_required']],
            [key(shopKey), ['consent_required', 'brand_key_required']],
            [key(bob.token), ['not_the_tokens_user']],
            [key(`${bob.token.slice(0, -4)}AAAA`), ['unauthorized']],
          ];
          for (const [headers, reasons] of callers) {
            const answer = await redeem(names, { platform }, headers);
            expect([answer.body.details?.reason, answer.status]).toEqual([
              expect.toSatisfy((reason: string) => reasons.includes(reason)),
              expect.toSatisfy((status: number) => status === 401 || status === 403),
            ]);
            const checked = await ask('check-eligibility', names, { platform }, headers);
            expect(checked.body.code ?? checked.body.details.reason).toBe(answer.body.details.reason);
          }
          expect(await kit.balanceOf(wallet)).toBe(before);
          expect((await redeemedOnChain(kit)).collected).toHaveLength(collected.length);
        },
      );
    });

    test('the host of events redeems nothing, where hosts are apart', async () => {
      const answer = await kit.post(
        `${kit.ready.urls.events}/perks/redeem`,
        redeemBody(kit, SHOP, WALLPAPERS.id),
        key(kit.brand.apiKey as string),
      );
      expect(answer.status).toBe(splitHosts ? 404 : 403);
    });

    describe('what the brand has paid a user', () => {
      test('is collected once, by all who ask at the same time together', async () => {
        const email = someone();
        const wallet = await paidBy(kit.brand.brandId, { userEmail: email });
        await mintTo(kit, wallet, 1_000);
        const answers = await Promise.all(Array.from({ length: 12 }, () => redeem(email)));
        // The reward is 100, the perk costs 50.
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
        for (const answer of answers.filter(({ status }) => status !== 200)) expectConsent(answer, 0);
        expect(await kit.balanceOf(wallet)).toBe(1_000n);
      });

      test('is collected whichever way the user is named, and not once for each', async () => {
        const email = someone();
        const wallet = await paidBy(kit.brand.brandId, { userEmail: email });
        await mintTo(kit, wallet, 1_000);
        expect((await redeem(wallet)).status).toBe(200);
        expect((await redeem(`0x${wallet.slice(2).toUpperCase()}`)).status).toBe(200);
        expectConsent(await redeem(email), 0);
        expectConsent(await redeem(wallet), 0);
      });

      test('is less by what the user spends elsewhere on their own word', async () => {
        const { carol } = kit.users;
        await paidBy(kit.brand.brandId, { userEmail: carol.email });
        await paidBy(SHOP, { userEmail: carol.email });
        const perk = { name: 'Badge', category: 'digital', cost: 80 };
        const { body } = await kit.control('/perks', { brand: SHOP, ...perk });
        const atShop = { brandId: SHOP, perkId: body.id };
        const asked = () => ask('check-eligibility', carol.email, atShop, key(carol.token));
        // Anvil may show what the next block holds a moment too early, so being eligible could be taken back once more.
        const terms = async () => {
          const { perks } = (await kit.request(`${kit.ready.urls.control}/perks?brand=${SHOP}`)).body;
          return perks.find((one: { id: string }) => one.id === body.id).terms;
        };
        await expect.poll(terms).toBe('on_chain');
        expect((await asked()).body.eligible).toBe(true);
        const bought = await redeem(carol.email, atShop, key(carol.token));
        expect([bought.status, bought.body]).toEqual([200, expect.anything()]);
        const answer = await redeem(carol.email, {}, key(kit.brand.apiKey as string));
        expectConsent(answer, 20);
      });

      test('is for pages of the brand, not of others', async () => {
        const email = someone();
        await paidBy(kit.brand.brandId, { userEmail: email });
        expect(await redeem(email, {}, { origin: 'https://elsewhere.example' })).toMatchObject(
          refused(403, 'origin_not_allowed'),
        );
        expect((await redeem(email, {}, { origin: 'https://demo.example' })).status).toBe(200);
      });
    });

    const expectConsent = ({ status, body }: Answer, collectable: number) => {
      expect([status, body.details]).toEqual([
        403,
        {
          reason: 'consent_required',
          perkCost: PRICE,
          collectable,
          permit: { token: kit.contracts.token, spender: kit.contracts.escrow, value: PRICE },
        },
      ]);
    };

    describe('the user themself spends up to their balance', () => {
      test('with their access token, however the brand has set it, and by each of their names', async () => {
        const { alice } = kit.users;
        await mintTo(kit, alice.address, 300);
        for (const redemptions of ['open', 'key', 'token']) {
          await setting(redemptions);
          for (const name of [alice.email, alice.address.toUpperCase().replace('0X', '0x')]) {
            const checked = await ask('check-eligibility', name, {}, key(alice.token));
            expect(checked.body).toMatchObject({ eligible: true });
            expect((await redeem(name, {}, key(alice.token))).status).toBe(200);
          }
        }
      });

      test('the same request under one Idempotency-Key is debited once, and no other caller gets its code', async () => {
        const { alice } = kit.users;
        await mintTo(kit, alice.address, 2 * PRICE);
        const before = await kit.balanceOf(alice.address);
        const once = { 'idempotency-key': freshKey() };
        const asUser = { ...key(alice.token), ...once };
        const [first, second] = [
          await redeem(alice.email, {}, asUser),
          await redeem(alice.email, {}, asUser),
        ];
        expect(second.body).toEqual(first.body);
        expect(await kit.balanceOf(alice.address)).toBe(before - BigInt(PRICE));
        const other = await redeem(alice.email, {}, once);
        expect(JSON.stringify(other.body)).not.toContain(first.body.confirmationCode);
      });

      test('with a permit, without a key; a permit pays once, and one that somebody has submitted pays as well', async () => {
        const { bob } = kit.users;
        await setting('token');
        await mintTo(kit, bob.address, 1_000);
        const wish = { spender: kit.contracts.escrow, value: 500n };
        const permit = await kit.permit(bob, wish);
        expect((await ask('check-eligibility', bob.email, { permit })).body).toMatchObject({
          eligible: true,
        });
        const answers = await Promise.all([redeem(bob.email, { permit }), redeem(bob.email, { permit })]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
        const again = await redeem(bob.email, { permit });
        expect([again.body.details, again.status]).toEqual([
          { reason: 'permit_refused', why: 'paid_before' },
          400,
        ]);
        expect(await kit.balanceOf(bob.address)).toBe(950n);
        const submitted = await kit.permit(bob, { ...wish, value: BigInt(PRICE) });
        const { owner, spender, value, deadline, v, r, s } = submitted;
        const args = [owner, spender, BigInt(value), BigInt(deadline), v, r, s] as const;
        const address = kit.contracts.token;
        await kit.mined(
          await kit.admin.writeContract({ address, abi: kit.tokenAbi, functionName: 'permit', args }),
        );
        expect((await redeem(bob.address, { permit: submitted })).status).toBe(200);
        expect(await kit.balanceOf(bob.address)).toBe(900n);
      });

      test('a permit that does not pay is refused, with the reason', async () => {
        const { alice, bob } = kit.users;
        await mintTo(kit, bob.address, PRICE);
        await mintTo(kit, alice.address, PRICE);
        const good = { spender: kit.contracts.escrow, value: BigInt(PRICE) };
        const soon = BigInt((await kit.now()) + 1);
        const nonce = 40n;
        const before = [await kit.balanceOf(alice.address), await kit.balanceOf(bob.address)];
        for (const [why, user, permit] of [
          ['not_of_wallet', bob, await kit.permit(alice, good)],
          ['wrong_spender', bob, await kit.permit(bob, { ...good, spender: kit.contracts.perks })],
          ['too_small', bob, await kit.permit(bob, { ...good, value: BigInt(PRICE) - 1n })],
          ['not_signed', bob, await kit.permit(bob, { ...good, nonce })],
          ['expired', bob, await kit.permit(bob, { ...good, deadline: soon })],
        ] as const) {
          const answer = await redeem(user.email, { permit });
          expect([answer.status, answer.body.details]).toEqual([400, { reason: 'permit_refused', why }]);
          expect((await ask('check-eligibility', user.email, { permit })).body.code).toBe('permit_refused');
        }
        const wrong = await redeem(bob.email, { permit: { owner: bob.address } });
        expect(wrong).toMatchObject(refused(400, 'invalid_request'));
        expect([await kit.balanceOf(alice.address), await kit.balanceOf(bob.address)]).toEqual(before);
      });
    });

    test('a brand that takes redemptions with its key: users are redeemed for by its server alone', async () => {
      const email = someone();
      await paidBy(kit.brand.brandId, { userEmail: email });
      await setting('key');
      expect(await redeem(email)).toMatchObject(refused(401, 'brand_key_required'));
      expect(await redeem(email, {}, key(shopKey))).toMatchObject(refused(401, 'brand_key_required'));
      expect((await redeem(email, {}, key(kit.brand.apiKey as string))).status).toBe(200);
    });

    test('a new brand takes redemptions with its key', async () => {
      const shown = await kit.request(`${kit.ready.urls.control}/brands/${SHOP}`);
      expect(shown.body.redemptions).toBe('key');
    });

    test('over the cap of the hour: refused with the moment, and a permit passes', async () => {
      const email = someone();
      const wallet = await paidBy(kit.brand.brandId, { userEmail: email });
      await payMore(kit, { email, amount: 60 });
      const [{ address }, { bob }] = [{ address: kit.contracts.token }, kit.users];
      const cap = async (rwt: bigint) =>
        kit.mined(
          await kit.admin.writeContract({
            address,
            abi: kit.tokenAbi,
            functionName: 'setCollectCap',
            args: [rwt],
          }),
        );
      const [, left] = await kit.chain.readContract({
        address,
        abi: kit.tokenAbi,
        functionName: 'collectCap',
      });
      const used = 10n ** 12n - left;
      await cap(used + BigInt(PRICE) + 10n);
      try {
        expect((await redeem(email)).status).toBe(200);
        const over = await redeem(email);
        expect([over.status, over.headers.get('retry-after'), over.body.details]).toEqual([
          429,
          expect.stringMatching(/^\d+$/),
          expect.objectContaining({
            reason: 'redemption_limit_reached',
            left: 10,
            retryAt: expect.any(String),
          }),
        ]);
        expect((await ask('check-eligibility', email)).body.code).toBe('redemption_limit_reached');
        // The operator is told once, however many are refused.
        expect((await redeem(email)).status).toBe(429);
        expect(limitAlarms).toEqual([`alarm: ${address}`]);
        // What the holder allows is not counted.
        await mintTo(kit, bob.address, PRICE);
        const permit = await kit.permit(bob, { spender: kit.contracts.escrow, value: BigInt(PRICE) });
        expect((await redeem(bob.email, { permit })).status).toBe(200);
      } finally {
        await cap(10n ** 12n);
      }
      // With the block that has the new cap.
      const eligible = async () => (await ask('check-eligibility', email)).body.eligible;
      await expect.poll(eligible).toBe(true);
      expect((await redeem(email)).status).toBe(200);
      expect(await kit.balanceOf(wallet)).toBe(60n);
      await kit.advance('1h');
      await expect.poll(() => limitAlarms.at(-1)).toBe(`alarm is over: ${address}`);
    });
  },
);
