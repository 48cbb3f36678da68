/** Payments in production: what keeps a start from taking them, and what a service without them says. */
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rewardsJson } from '../kits/service/cli.ts';
import {
  type ProductionKit,
  type Started,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts a process of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const LIVE = 'sk_live_51NobodyHasThisKey0123456789';
const TEST = 'sk_test_51NobodyHasThisKey0123456789';
const SECRET = 'whsec_NobodySignsWithThis0123456789';
const HTTPS = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' };

let kit: ProductionKit;
let ledger: string;
beforeAll(async () => {
  kit = await startProductionKit();
  ledger = await sqliteLedger(kit.folder, 'payments');
});
afterAll(() => kit.stop());

const stripe = (change: Record<string, string | undefined> = {}) => ({
  REWARDS_ALLOW_SQLITE: 'true',
  REWARDS_PAYMENTS: 'stripe',
  REWARDS_STRIPE_SECRET_KEY: LIVE,
  REWARDS_STRIPE_WEBHOOK_SECRET: SECRET,
  REWARDS_EXPLORER_URL: 'https://explorer.example',
  ...change,
});

async function check(change: Record<string, string | undefined>) {
  const env = kit.environment(ledger, stripe(change));
  const { code, envelope, stderr, stdout } = await rewardsJson(['start', '--check'], { env });
  const output = stdout + stderr;
  for (const secret of Object.values(stripe(change)))
    if (secret && /^(?:sk|rk|pk|whsec)_/.test(secret)) expect(output).not.toContain(secret);
  const problems: { code: string; message: string }[] = envelope.error?.details?.problems ?? [];
  return { code, error: envelope.error, codes: problems.map((problem) => problem.code), output };
}

describe('the start is', () => {
  test('right with keys of one mode', async () => {
    // Keys of no account: all that is said is what the processor, or the way to it, says of them.
    const nothingElse = { code: 5, codes: ['E_PROD_PAYMENTS'] };
    expect(await check({})).toMatchObject(nothingElse);
    const test = { REWARDS_STRIPE_MODE: 'test', REWARDS_STRIPE_SECRET_KEY: TEST };
    expect(await check(test)).toMatchObject(nothingElse);
    const restricted = { REWARDS_STRIPE_SECRET_KEY: LIVE.replace('sk_', 'rk_') };
    expect(await check(restricted)).toMatchObject(nothingElse);
    const files = {
      REWARDS_STRIPE_SECRET_KEY: undefined,
      REWARDS_STRIPE_SECRET_KEY_FILE: await kit.secretFile(LIVE),
      REWARDS_STRIPE_WEBHOOK_SECRET: undefined,
      REWARDS_STRIPE_WEBHOOK_SECRET_FILE: await kit.secretFile(`${SECRET}\n${SECRET}New`),
    };
    expect(await check(files)).toMatchObject(nothingElse);
  });

  test.each([
    ['a test key in live mode', { REWARDS_STRIPE_SECRET_KEY: TEST }, 'E_PROD_STRIPE_MODE'],
    ['a live key in test mode', { REWARDS_STRIPE_MODE: 'test' }, 'E_PROD_STRIPE_MODE'],
    [
      'the key of the emulator',
      { REWARDS_STRIPE_MODE: 'test', REWARDS_STRIPE_SECRET_KEY: 'sk_test_rewards_emulator' },
      'E_PROD_DEV_KEY',
    ],
    ['an emulated processor', { REWARDS_STRIPE_API: 'http://127.0.0.1:8787' }, 'E_PROD_EMULATED'],
    ['a host like Stripe', { REWARDS_STRIPE_API: 'https://api.stripe.com.evil.example' }, 'E_PROD_EMULATED'],
    ['Stripe in the clear', { REWARDS_STRIPE_API: 'http://api.stripe.com' }, 'E_PROD_EMULATED'],
  ])('refused with %s', async (_what, change, code) => {
    const result = await check(change);
    expect(result.codes).toEqual([code]);
    expect(result.code).toBe(5);
  });

  test.each([
    [
      'without a secret key',
      { REWARDS_STRIPE_SECRET_KEY: undefined },
      'REWARDS_STRIPE_SECRET_KEY is not set',
    ],
    [
      'without a signing secret',
      { REWARDS_STRIPE_WEBHOOK_SECRET: undefined },
      'REWARDS_STRIPE_WEBHOOK_SECRET is not set',
    ],
    ['without the key that mints', { REWARDS_MINT_KEY: undefined }, 'REWARDS_MINT_KEY is not set'],
    ['without an explorer', { REWARDS_EXPLORER_URL: undefined }, 'REWARDS_EXPLORER_URL is not set'],
    [
      'with a publishable key',
      { REWARDS_STRIPE_SECRET_KEY: LIVE.replace('sk_', 'pk_') },
      "REWARDS_STRIPE_SECRET_KEY is not a key of Stripe's API",
    ],
    [
      'with another secret as the signing secret',
      { REWARDS_STRIPE_WEBHOOK_SECRET: LIVE },
      'REWARDS_STRIPE_WEBHOOK_SECRET is not a signing secret',
    ],
  ])('refused %s', async (_what, change, message) => {
    const result = await check(change);
    expect([result.code, result.error.code]).toEqual([2, 'E_SETTINGS']);
    expect(result.error.message).toContain(message);
  });

  test('right without a signing secret on a process that answers no callers', async () => {
    const outbox = { REWARDS_WORKERS: 'outbox', REWARDS_STRIPE_WEBHOOK_SECRET: undefined };
    expect((await check(outbox)).codes).toEqual(['E_PROD_PAYMENTS']);
  });
});

test('without payments, the endpoints say so, and the rest works', async () => {
  const started = await startProduction(
    kit.environment(await sqliteLedger(kit.folder, 'none'), { REWARDS_ALLOW_SQLITE: 'true' }),
  );
  for (const path of ['/create-checkout', '/payment-mint']) {
    const { status, body } = await started.api(path, { method: 'POST', headers: HTTPS, body: '{}' });
    expect(status).toBe(503);
    expect(body).toMatchObject({ success: false, details: { reason: 'payments_not_configured' } });
  }
  expect((await started.api('/health', { headers: HTTPS })).status).toBe(200);
  await started.stop();
});

describe('with Stripe', () => {
  let started: Started;
  beforeAll(async () => {
    // Only what answers callers: nothing here asks Stripe.
    const env = kit.environment(ledger, stripe({ REWARDS_WORKERS: 'api' }));
    started = await startProduction(env, ['--log-level', 'debug']);
  });
  afterAll(async () => {
    await started.stop();
  });

  const event = (livemode = true) =>
    JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'checkout.session.completed',
      livemode,
      created: Math.floor(Date.now() / 1_000),
      data: { object: { id: 'cs_live_foreign' } },
    });
  const deliver = (text: string, secret = SECRET) =>
    started.api('/payment-mint', {
      method: 'POST',
      headers: {
        ...HTTPS,
        'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload: text, secret }),
      },
      body: text,
    });

  test("events are verified with the endpoint's secret, and of live mode alone", async () => {
    expect(await deliver(event())).toMatchObject({
      status: 200,
      body: { success: false, received: true, message: 'Session not found' },
    });
    expect(await deliver(event(), 'whsec_another')).toMatchObject({
      status: 400,
      body: { details: { reason: 'signature_wrong' } },
    });
    expect(await deliver(event(false))).toMatchObject({
      status: 400,
      body: { details: { reason: 'livemode_wrong' } },
    });
  });

  test('an unknown session and a page elsewhere cost Stripe no question', async () => {
    const post = (path: string, body: unknown) =>
      started.api(path, { method: 'POST', headers: HTTPS, body: JSON.stringify(body) });
    expect(await post('/payment-mint', { sessionId: 'cs_live_1' })).toMatchObject({
      status: 400,
      body: { message: 'Session not found' },
    });
    const checkout = { brandId: `0x${'b1'.repeat(20)}`, amount: 500, userEmail: 'buyer@shop.example' };
    const pages = { successUrl: 'http://127.0.0.1/', cancelUrl: 'http://localhost:3000/' };
    const { status, body } = await post('/create-checkout', { ...checkout, ...pages });
    expect(status).toBe(400);
    expect(body.details.errors).toHaveLength(2);
  });

  test('no key is in the log', () => {
    for (const secret of [LIVE, SECRET]) expect(started.log()).not.toContain(secret);
  });
});
