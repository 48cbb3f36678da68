/** `rewards receiver` between a payment processor and payment-mint, which answers as each test says. */
import Stripe from 'stripe';
import { afterEach, describe, expect, test } from 'vitest';
import { rewards, startHere, startProcess } from '../kits/service/cli.ts';
import { stubService } from './stub-service.ts';

const SECRET = 'whsec_receiver';
type Mint = Awaited<ReturnType<typeof stubService>>;
const minted = { success: true, message: 'Minted', txHash: `0x${'ab'.repeat(32)}` };
const done = { status: 200, body: minted };
const broken = { status: 500, body: { success: false, message: 'The chain does not answer' } };

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

/** Payment-mint that gives these answers one after the other, the last one from then on. */
async function paymentMint(...answers: Parameters<typeof stubService>[0][] | object[]): Promise<Mint> {
  const mint = await stubService(() => answers[Math.min(mint.asked.length, answers.length) - 1] as object);
  undo.push(mint.close);
  return mint;
}

async function receiver(mint: Mint, ...more: string[]) {
  const args = ['receiver', '--port', '0', '--secret', SECRET, '--forward-to', mint.url, '-o', 'json'];
  const run = startHere([...args, '--retry-delays', '1ms,2ms,3ms', ...more]);
  const ready = JSON.parse(await run.nextLine());
  undo.push(async () => {
    run.signal('SIGTERM');
    expect(await run.ended).toBe(0);
  });
  return { url: ready.url as string, ready, entry: async () => JSON.parse(await run.nextLine()) };
}

const event = (type: string, { id = 'evt_1', object = { id: 'cs_test_1' } as object } = {}) =>
  JSON.stringify({ id, object: 'event', type, data: { object } }, null, 2);
const COMPLETED = event('checkout.session.completed');
const nowSeconds = () => Math.floor(Date.now() / 1_000);

async function deliver(url: string, body: string, { secret = SECRET, ageSeconds = 0, sent = body } = {}) {
  const timestamp = nowSeconds() - ageSeconds;
  const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'stripe-signature': signature, 'content-type': 'application/json' },
    body: sent,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('a good payment-mint', () => {
  test.each(['checkout.session.completed', 'checkout.session.async_payment_succeeded'])(
    '%s: its session id is passed on, and 200 said when it is minted',
    async (type) => {
      const mint = await paymentMint(done);
      const { url, ready, entry } = await receiver(mint);
      expect(ready).toMatchObject({ type: 'ready', forwardTo: `${mint.url}/rewards-api/payment-mint` });
      expect(await deliver(url, event(type))).toEqual({ status: 200, body: { received: true } });
      expect(mint.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
        ['POST', '/rewards-api/payment-mint', '{"sessionId":"cs_test_1"}'],
      ]);
      expect(await entry()).toMatchObject({
        type: 'delivery',
        what: 'forwarded',
        event: { id: 'evt_1', type, objectId: 'cs_test_1' },
        forwarded: { outcome: 'done', tries: 1, transactionHash: minted.txHash },
      });
    },
  );

  test('payment_intent.succeeded is only logged, others are left alone', async () => {
    const mint = await paymentMint(done);
    const { url, entry } = await receiver(mint);
    for (const [type, what] of [
      ['payment_intent.succeeded', 'logged'],
      ['checkout.session.expired', 'ignored'],
    ] as const) {
      expect(await deliver(url, event(type))).toMatchObject({ status: 200 });
      expect(await entry()).toMatchObject({ what, event: { type } });
    }
    expect(mint.asked).toEqual([]);
  });

  test('an event that comes again and again, side by side too, is passed on once', async () => {
    const mint = await paymentMint(done);
    const { url } = await receiver(mint);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(url, COMPLETED)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    await deliver(url, COMPLETED, { ageSeconds: 60 });
    expect(mint.asked).toHaveLength(1);
  });

  test('its final no is told and asked for once; when the processor sends the event again, payment-mint is asked again', async () => {
    const refusal = { success: false, message: 'Payment not completed: unpaid' };
    const mint = await paymentMint({ status: 400, body: refusal }, done);
    const { url, entry } = await receiver(mint);
    expect(await deliver(url, COMPLETED)).toMatchObject({ status: 200 });
    expect((await entry()).forwarded).toMatchObject({ outcome: 'refused', message: refusal.message });
    expect(mint.asked).toHaveLength(1);
    expect(await deliver(url, COMPLETED)).toMatchObject({ status: 200 });
    expect((await entry()).forwarded).toMatchObject({ outcome: 'done' });
  });
});

describe('a failing payment-mint', () => {
  test('is asked again after 500, three times at most, with the pauses given', async () => {
    const mint = await paymentMint(broken, broken, broken, done);
    const { url, entry } = await receiver(mint);
    expect(await deliver(url, COMPLETED)).toMatchObject({ status: 200 });
    for (const inMs of [1, 2, 3]) expect(await entry()).toMatchObject({ type: 'retry', status: 500, inMs });
    expect((await entry()).forwarded).toMatchObject({ outcome: 'done', tries: 4 });
  });

  test('pauses for 2, 4 and 8 s unless told otherwise', async () => {
    const { stdout } = await rewards(['receiver', '--help']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('asked again after a 500 [default 2s,4s,8s]');
  });

  test('that goes on failing leaves the event to the processor, and the next delivery tries again', async () => {
    const mint = await paymentMint(broken, broken, broken, broken, done);
    const { url } = await receiver(mint);
    expect(await deliver(url, COMPLETED)).toEqual({ status: 503, body: { received: false } });
    expect(mint.asked).toHaveLength(4);
    expect(await deliver(url, COMPLETED)).toMatchObject({ status: 200 });
    expect(mint.asked).toHaveLength(5);
  });

  test.each([
    ['a limit', { status: 429, body: {} }],
    ['a proxy’s page', { status: 404, text: '<html>' }],
  ])('%s is no answer about the session', async (_, trouble) => {
    const mint = await paymentMint(trouble, done);
    const { url } = await receiver(mint);
    expect(await deliver(url, COMPLETED)).toMatchObject({ status: 200 });
    expect(mint.asked).toHaveLength(2);
  });

  test('that takes long keeps no delivery waiting: it is answered 503, and a later one joins the same call', async () => {
    let answer = () => {};
    const mint = await stubService((_, raw) => {
      answer = () => raw.end(JSON.stringify(minted));
      return undefined;
    });
    undo.push(mint.close);
    const { url, entry } = await receiver(mint, '--answer-within', '50ms');
    expect(await deliver(url, COMPLETED)).toEqual({ status: 503, body: { received: false } });
    expect(await entry()).toMatchObject({ what: 'forwarding', status: 503 });
    await expect.poll(() => mint.asked.length).toBe(1);
    answer();
    await expect.poll(async () => (await deliver(url, COMPLETED)).status).toBe(200);
    expect(mint.asked).toHaveLength(1);
  });

  test('that does not listen is no loss either', async () => {
    const gone = await stubService(() => done);
    await gone.close();
    const { url, entry } = await receiver(gone);
    expect(await deliver(url, COMPLETED)).toMatchObject({ status: 503 });
    expect(await entry()).toMatchObject({ type: 'retry', status: null, message: 'ECONNREFUSED' });
  });
});

describe('what is not the processor’s is refused, and nothing passed on', () => {
  test.each([
    ['another secret', { secret: 'whsec_other' }, 'not of this body under this secret'],
    ['a flipped byte', { sent: COMPLETED.replace('cs_test_1', 'cs_test_2') }, 'not of this body'],
    ['JSON written again', { sent: JSON.stringify(JSON.parse(COMPLETED)) }, 'not of this body'],
    ['a byte order mark', { sent: `\uFEFF${COMPLETED}` }, 'not of this body'],
    ['an old signature', { ageSeconds: 310 }, 'too old'],
    ['one from the future', { ageSeconds: -310 }, 'in the future'],
  ])('%s: 400', async (_, how, said) => {
    const mint = await paymentMint(done);
    const { url, entry } = await receiver(mint);
    const answer = await deliver(url, COMPLETED, how);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(said);
    expect(await entry()).toMatchObject({ what: 'refused', status: 400 });
    expect(mint.asked).toEqual([]);
  });

  test('requests of another form', async () => {
    const mint = await paymentMint(done);
    const { url } = await receiver(mint);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: 'POST', body: COMPLETED })).status).toBe(400);
    expect(await deliver(url, 'signed, and no JSON')).toMatchObject({ status: 400 });
    expect(await deliver(url, '{"signed":"and no event"}')).toMatchObject({ status: 400 });
    const withoutSession = event('checkout.session.completed', { object: {} });
    expect(await deliver(url, withoutSession)).toMatchObject({ status: 400 });
    const long = event('checkout.session.completed', { object: { id: 'x'.repeat(600_000) } });
    expect((await deliver(url, long)).status).toBe(413);
    expect(mint.asked).toEqual([]);
  });
});

test('a receiver that is killed while it asks has said nothing, so the event comes again and is minted', async () => {
  let tellAsked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  const mint = await stubService(() => {
    if (mint.asked.length > 1) return done;
    tellAsked();
    return undefined;
  });
  undo.push(mint.close);
  const env = { REWARDS_WEBHOOK_SECRET: SECRET };
  const args = ['receiver', '--port', '0', '--forward-to', mint.url, '-o', 'json'];

  const first = startProcess(args, { env });
  const delivery = deliver(JSON.parse(await first.nextLine()).url, COMPLETED).catch(() => 'cut off');
  await isAsked;
  await first.stop('SIGKILL');
  expect(await delivery).toBe('cut off');

  const second = startProcess(args, { env });
  expect(await deliver(JSON.parse(await second.nextLine()).url, COMPLETED)).toMatchObject({ status: 200 });
  expect(await second.stop()).toEqual({ code: 0, signal: null });
  expect(mint.asked.map(({ body }) => body)).toEqual(Array(2).fill('{"sessionId":"cs_test_1"}'));
});

test('without a secret, or without an address of payment-mint, it says what to give', async () => {
  const [secret, address] = await Promise.all([
    rewards(['receiver', '--port', '0', '--forward-to', 'http://127.0.0.1:1']),
    rewards(['receiver', '--port', '0', '--secret', SECRET]),
  ]);
  expect(secret.stderr).toContain('--secret whsec_…');
  expect(address.stderr).toContain('--forward-to <url>');
  expect([secret.code, address.code]).toEqual([2, 3]);
});
