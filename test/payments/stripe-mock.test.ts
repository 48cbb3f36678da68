/** Every call of our adapter to Stripe, held against Stripe's own OpenAPI by stripe-mock. */
import { spawnSync } from 'node:child_process';
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStripe } from '../../src/payments/stripe.ts';
import { leaveOut } from '../kits/run/left-out.ts';

const IMAGE = 'stripe/stripe-mock:v0.197.0';
const PORT = 12_111;

function missing(): string | undefined {
  const { error, status } = spawnSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' });
  if (!error && status === 0) return undefined;
  return leaveOut(`Docker image ${IMAGE}`, 'with Docker running, scripts/stripe-mock-image.sh builds it');
}

const reason = missing();

describe.skipIf(reason !== undefined)('stripe-mock', () => {
  let container: StartedTestContainer;
  const address = () => ({
    host: container.getHost(),
    port: container.getMappedPort(PORT),
    protocol: 'http' as const,
  });
  const adapter = () =>
    createStripe(
      { clock: { now: () => Date.now() } },
      {
        secretKey: 'sk_test_123456789',
        webhookSecrets: [],
        livemode: false,
        address,
        timeoutMs: 10_000,
        retriesMax: 0,
        limitedPausesMs: [],
      },
    );

  beforeAll(async () => {
    // Stopped below; the container that would look after it is another image.
    process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
    container = await new GenericContainer(IMAGE)
      .withExposedPorts(PORT)
      // From outside, since the image has no shell; without a key it answers 401.
      .withWaitStrategy(Wait.forHttp('/v1/events', PORT).forStatusCode(401))
      .start();
  }, 60_000);
  afterAll(async () => {
    await container.stop();
  });

  test('refuses a parameter that Stripe does not have, and a missing one', async () => {
    const { host, port } = address();
    const send = async (fields: Record<string, string>) => {
      const response = await fetch(`http://${host}:${port}/v1/checkout/sessions`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk_test_123456789' },
        body: new URLSearchParams(fields),
      });
      return response.status;
    };
    expect(await send({ mode: 'payment', success_url: 'https://shop.example/' })).toBe(200);
    expect(await send({ mode: 'payment', success_urls: 'https://shop.example/' })).toBe(400);
    expect(await send({ mode: 'lottery' })).toBe(400);
  });

  test('takes the session that we make', async () => {
    const session = await adapter().createSession({
      id: 'checkout-1',
      amount: 2_550,
      currency: 'usd',
      productName: '25500 reward tokens (RWT)',
      userEmail: 'buyer@shop.example',
      successUrl: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
      cancelUrl: 'https://shop.example/cart',
      metadata: { wallet: `0x${'ab'.repeat(20)}`, usd_amount: '25.50', rwt_amount: '25500' },
    });
    expect(session.id).toMatch(/^cs_/);
    expect(session.createdAtMs).toBeGreaterThan(0);
  });

  test('finds a session as we ask for it, with the charge of its payment', async () => {
    const session = await adapter().findSession('cs_test_1');
    expect(session).toMatchObject({ id: expect.stringMatching(/^cs_/), paymentStatus: expect.any(String) });
  });

  test('lists sessions and events as we ask for them', async () => {
    const stripe = adapter();
    for await (const session of stripe.sessionsSince(Date.now() - 60_000)) {
      expect(session.id).toMatch(/^cs_/);
      break;
    }
    for await (const event of stripe.eventsSince(Date.now() - 60_000)) {
      expect(event.id).toMatch(/^evt_/);
      break;
    }
  });
});
