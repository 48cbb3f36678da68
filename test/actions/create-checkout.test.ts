/** A checkout between the ledger and a processor that answers what a test says: planned first, made once, tied together. */
import { expect, test } from 'vitest';
import {
  type CheckoutDeps,
  createCheckout,
  type WantedCheckout,
} from '../../src/actions/payments/create-checkout.ts';
import { attachSession, findPlannedCheckout } from '../../src/ledger/payments/checkout-sessions.ts';
import { hasUnattached } from '../../src/ledger/payments/due-looks.ts';
import { brandDomains } from '../../src/ledger/schema/brands.ts';
import { checkoutSessions } from '../../src/ledger/schema/payments.ts';
import { ProcessorFailure, type ProcessorSession } from '../../src/payments/processor.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand } from './ledger.ts';

const LIFETIME_MS = 86_400_000;
const FIRST_LOOK_MS = 300_000;
const PAGE = 'https://pay.example/c/1';

onEveryDatabase((on) => {
  /** A brand that sells RWT; `createSession` gives what is not the session that was asked for. */
  async function shop(createSession: (id: string) => Promise<Partial<ProcessorSession>> = async () => ({})) {
    const ledger = await openLedger(on.kit().database);
    const { database, clock, random } = ledger;
    const world = { asked: 0, requests: [] as unknown[], told: [] as unknown[], reached: [] as string[] };
    const deps: CheckoutDeps = {
      database,
      clock,
      random,
      processor: {
        livemode: false,
        async createSession(request) {
          const { id, amount, currency, metadata } = request;
          world.asked += 1;
          world.requests.push(request);
          return {
            id: `cs_test_${id}`,
            checkoutId: id,
            url: PAGE,
            status: 'open',
            paymentStatus: 'unpaid',
            paymentIntentId: null,
            amountTotal: amount,
            currency,
            livemode: false,
            metadata,
            refundedAmount: 0,
            disputed: false,
            createdAtMs: START_MS,
            expiresAtMs: START_MS + 7,
            ...(await createSession(id)),
          };
        },
      },
      log: { warn: (...said: unknown[]) => void world.told.push(said) },
      crash: (point) => void world.reached.push(point),
      settings: { loopbackReturns: false, lifetimeMs: LIFETIME_MS, firstLookMs: FIRST_LOOK_MS },
    };
    const brand = await someBrand(ledger);
    const id = freshKey('checkout-');
    const buy = (change: Partial<WantedCheckout> = {}) =>
      createCheckout(
        deps,
        {
          brandId: brand.brandId,
          amountCents: 2_500,
          currency: 'usd',
          userEmail: 'a@people.example',
          successUrl: `https://${brand.domain}/thanks`,
          cancelUrl: `https://${brand.domain}/cart`,
          ...change,
        },
        { id },
      );
    return { ledger, deps, world, brand, id, buy, plan: () => findPlannedCheckout(database.db, id) };
  }

  test('is tied to its session, and the same request again gets its page without a question', async () => {
    const { world, id, buy, plan } = await shop();
    const expected = { url: PAGE, sessionId: `cs_test_${id}` };
    expect(await buy()).toEqual(expected);
    expect(await plan()).toMatchObject({
      processorSessionId: `cs_test_${id}`,
      url: PAGE,
      state: 'open',
      paymentStatus: 'unpaid',
      expiresAt: START_MS + 7,
      nextLookAt: START_MS + FIRST_LOOK_MS,
      rwtAmount: 25_000,
    });
    expect(await buy()).toEqual(expected);
    expect([world.asked, world.reached, world.told]).toEqual([1, ['checkout.made'], []]);
  });

  test('says what is bought for whom, so that the paid session alone tells what it mints', async () => {
    const { world, id, buy, brand } = await shop();
    await buy({ amountCents: 1_050 });
    expect(world.requests).toEqual([
      {
        id,
        amount: 1_050,
        currency: 'usd',
        userEmail: 'a@people.example',
        successUrl: `https://${brand.domain}/thanks`,
        cancelUrl: `https://${brand.domain}/cart`,
        productName: '10500 reward tokens (RWT)',
        metadata: { wallet: brand.brandId, usd_amount: '10.50', rwt_amount: '10500' },
      },
    ]);
  });

  test('without an idempotency key is a checkout of its own each time', async () => {
    const { deps, brand } = await shop();
    const wanted: WantedCheckout = {
      brandId: brand.brandId,
      amountCents: 2_500,
      currency: 'usd',
      userEmail: 'a@people.example',
      successUrl: `https://${brand.domain}/`,
      cancelUrl: `https://${brand.domain}/`,
    };
    const made = [await createCheckout(deps, wanted), await createCheckout(deps, wanted)];
    const sessionId = expect.stringMatching(/^cs_test_[0-9a-f-]{36}$/);
    expect(made).toEqual([
      { url: PAGE, sessionId },
      { url: PAGE, sessionId },
    ]);
    expect(made[0]).not.toEqual(made[1]);
  });

  test('is refused where the brand does not exist, or the pages are none of its, all of whose domains are told', async () => {
    const { ledger, world, buy } = await shop();
    const brandId = freshAddress();
    expect(await buy({ brandId })).toEqual({ refusal: { code: 'brand_not_found', brandId } });
    const name = freshKey('shop');
    const { brandId: two } = await someBrand(ledger, { domains: [`a${name}.example`, `b${name}.example`] });
    expect(await buy({ brandId: two })).toMatchObject({
      refusal: {
        errors: [expect.stringContaining(`(a${name}.example, b${name}.example)`), expect.anything()],
      },
    });
    expect(world.asked).toBe(0);
  });

  test('stays planned for its time while the processor is away, and a later try makes it', async () => {
    let away: Error | undefined = new ProcessorFailure('unavailable', 'rate_limit', 'too many requests');
    const { world, id, buy, plan } = await shop(async () => {
      if (away) throw away;
      return {};
    });
    expect(await buy()).toEqual({ refusal: { code: 'processor_unavailable' } });
    const facts = { checkout: id, code: 'rate_limit', error: 'too many requests' };
    expect(world.told).toEqual([[facts, 'the processor made no session']]);
    expect(await plan()).toMatchObject({
      processorSessionId: null,
      url: null,
      state: 'creating',
      createdAt: START_MS,
      expiresAt: START_MS + LIFETIME_MS,
      nextLookAt: START_MS + FIRST_LOOK_MS,
    });
    away = new Error('a fault');
    await expect(buy()).rejects.toBe(away);
    away = undefined;
    expect(await buy()).toEqual({ url: PAGE, sessionId: `cs_test_${id}` });
    expect(world.told).toHaveLength(1);
  });

  test('is closed where the processor refuses it for good, and the same request may still make it', async () => {
    let refusal: Error | undefined = new ProcessorFailure('refused', 'email_invalid', 'answered 400');
    const { ledger, buy, plan, id } = await shop(async () => {
      if (refusal) throw refusal;
      return {};
    });
    const { db } = ledger.database;
    await db.delete(checkoutSessions);
    expect(await buy()).toEqual({ refusal: { code: 'processor_unavailable' } });
    expect(await plan()).toMatchObject({ state: 'refused', nextLookAt: null, processorSessionId: null });
    // No id that a stranger guesses may be its.
    expect(await hasUnattached(db, { sinceMs: 0 })).toBe(false);
    refusal = undefined;
    expect(await buy()).toEqual({ url: PAGE, sessionId: `cs_test_${id}` });
    expect(await plan()).toMatchObject({ state: 'open', nextLookAt: START_MS + FIRST_LOOK_MS });
  });

  test('of callers without a key no more are open than an address and a brand may have, however many ask at once', async () => {
    const { ledger, deps, brand, world } = await shop();
    const other = await someBrand(ledger);
    deps.settings.openCheckouts = { ofAddress: 3, ofBrand: 5 };
    const buyAt = ({ brandId, domain }: typeof brand, openedFrom?: string) =>
      createCheckout(deps, {
        brandId,
        amountCents: 2_500,
        currency: 'usd',
        userEmail: 'a@people.example',
        openedFrom,
        successUrl: `https://${domain}/`,
        cancelUrl: `https://${domain}/`,
      });
    const [one, two] = [freshKey('address'), freshKey('address')];
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => buyAt(brand, one)));
    const refusalsOf = (all: typeof outcomes) => all.flatMap((of) => ('refusal' in of ? [of.refusal] : []));
    const refused = (whose: string, limit: number) => ({
      code: 'too_many_open_checkouts',
      whose,
      limit,
      resetAtMs: START_MS + 7,
    });
    expect(refusalsOf(outcomes)).toHaveLength(5);
    expect(refusalsOf(outcomes)[0]).toMatchObject({
      code: 'too_many_open_checkouts',
      whose: 'address',
      limit: 3,
    });
    expect(world.asked).toBe(3);
    // At another brand too, since it is the address that has them open.
    expect(refusalsOf([await buyAt(other, one)])).toEqual([refused('address', 3)]);
    const more = await Promise.all(Array.from({ length: 3 }, () => buyAt(brand, two)));
    expect(refusalsOf(more)).toMatchObject([{ whose: 'brand', limit: 5 }]);
    // The brand's own server is not counted, and neither are those that are over.
    expect(refusalsOf([await buyAt(brand)])).toEqual([]);
    ledger.clock.advance(8);
    expect(refusalsOf([await buyAt(brand, one)])).toEqual([]);
  });

  test('a session that was tied to it without a page is asked for again', async () => {
    const { world, id, buy, ledger } = await shop(async () => {
      const said = { url: null, paymentStatus: 'paid', expiresAt: START_MS, nextLookAt: START_MS };
      await attachSession(ledger.database.db, { ...said, id, processorSessionId: `cs_test_${id}` });
      return world.asked === 1 ? { url: null } : {};
    });
    await expect(buy()).rejects.toThrow(`the processor's session cs_test_${id} has no page`);
    expect(await buy()).toMatchObject({ url: PAGE });
    expect(world.asked).toBe(2);
  });

  test('that has another session already is a fault', async () => {
    const { id, buy, ledger } = await shop(async () => {
      const said = { url: PAGE, paymentStatus: 'unpaid', expiresAt: START_MS, nextLookAt: START_MS };
      await attachSession(ledger.database.db, { ...said, id, processorSessionId: 'cs_test_other' });
      return {};
    });
    await expect(buy()).rejects.toThrow(`the checkout ${id} has another session than cs_test_${id}`);
  });

  test('pages on the brand’s own domains alone, and not on a nearer one of another brand', async () => {
    const { ledger, world, brand, buy } = await shop();
    const other = await someBrand(ledger);
    // As ledgers have it from before such domains were refused.
    const nearer = `their.${brand.domain}`;
    await ledger.database.db
      .insert(brandDomains)
      .values({ brandId: other.brandId, domain: nearer, source: 'dns' });
    const must = `must be an https address on a domain of the brand (${brand.domain})`;
    for (const successUrl of ['nowhere', `https://www.${nearer}/`, `http://${brand.domain}/`])
      expect(await buy({ successUrl })).toEqual({
        refusal: { code: 'invalid_event_data', errors: [`successUrl: ${must}`] },
      });
    expect(await buy({ cancelUrl: `https://${other.domain}/` })).toEqual({
      refusal: { code: 'invalid_event_data', errors: [`cancelUrl: ${must}`] },
    });
    expect(world.asked).toBe(0);
    expect(await buy({ successUrl: `https://www.${brand.domain}/` })).toMatchObject({ url: PAGE });
  });
});
