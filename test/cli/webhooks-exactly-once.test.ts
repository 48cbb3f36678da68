/** Every event of the payment processor delivered again and again, late, shuffled and tampered with: each session is minted once. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { databaseKinds } from '../kits/databases/databases.ts';
import { rewards, rewardsJson, serveHere, startHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
/** One of each type. */
const events = new Map<string, string>();

const types = [
  'checkout.session.completed',
  'checkout.session.expired',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'charge.refunded',
  'charge.dispute.created',
];

const ask = async (url: string, body: object) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stack.ready.controlToken}` },
    body: JSON.stringify(body),
  });
  const answer = JSON.parse(await response.text());
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return answer;
};

async function checkout(dollars: number): Promise<string> {
  const [{ brandId, domain }] = stack.ready.brands;
  const { sessionId } = await ask(`${stack.ready.urls.events}/rewards-api/create-checkout`, {
    brandId,
    amount: dollars * 100,
    userEmail: 'buyer@people.example',
    successUrl: `https://${domain}/thanks`,
    cancelUrl: `https://${domain}/cart`,
  });
  return sessionId;
}

const step = (session: string | undefined, verb: string, wish: object = {}) =>
  ask(`${stack.ready.urls.control}/processor/sessions/${session}/${verb}`, { webhook: false, ...wish });

const json = (...args: string[]) => rewardsJson(['webhooks', ...args], { cwd: project.path });
const recorded = async (): Promise<{ id: string; type: string }[]> =>
  (await json('list', '--limit', '500')).envelope.data.events;
const recordedTypes = async () => [...new Set((await recorded()).map(({ type }) => type))].toSorted();

const attacks = ['--stale', '--future', '--tamper body', '--tamper signature', '--tamper timestamp'];

describe.each(databaseKinds)('on $kind', ({ open }) => {
  let database: Awaited<ReturnType<typeof open>> | undefined;
  beforeAll(async () => {
    database = await open();
    const on = database.databaseUrl ? ['--database-url', database.databaseUrl] : [];
    project = await temporaryDirectory();
    // On a clock that stands still the service never looks after sessions by itself.
    stack = await serveHere(['--port', '0', '--persist-to', 'data', '--freeze', ...on], {
      cwd: project.path,
    });
    const sessions = await Promise.all([1, 2, 3, 4, 5, 6].map(checkout));
    const [paid, refunded, disputed, later, failing, expiring] = sessions;
    // Of one payment the processor tells payment-mint itself. Of the others it tells nobody: what comes of them comes of
    // the deliveries below.
    await step(disputed, 'pay', { webhook: true });
    const told = async () =>
      (await json('list', '--object', disputed ?? '', '--type', types[0] ?? '')).envelope.data.events[0]
        .deliveries;
    await vi.waitFor(async () => expect(await told()).toMatchObject([{ state: 'delivered' }]), {
      timeout: 60_000,
    });
    await step(disputed, 'dispute');
    for (const session of [paid, refunded]) await step(session, 'pay');
    await step(refunded, 'refund');
    await step(later, 'pay', { later: true, delay: '1s' });
    await step(failing, 'pay', { later: true, delay: '1s', fails: 'insufficient_funds' });
    await step(expiring, 'expire');
    await rewards(['clock', 'advance', '2s'], { cwd: project.path });
    await vi.waitFor(async () => expect(await recordedTypes()).toEqual(types.toSorted()), {
      timeout: 60_000,
    });
    for (const { type, id } of await recorded()) events.set(type, id);
  });
  afterAll(async () => {
    await stack.stop();
    await database?.stop();
    await project.remove();
  });

  // They come first: nothing of them may keep the good deliveries from minting.
  test.each(attacks)(
    'every event three times with %s: all are refused, and nothing is minted',
    async (attack) => {
      const args = ['replay', ...events.values(), '--times', '3', '--concurrency', '4', ...attack.split(' ')];
      const { code, envelope } = await json(...args, '--expect-effects', 'none');
      expect({ code, error: envelope.error }).toEqual({ code: 0, error: undefined });
      const { deliveries, effects } = envelope.data;
      const statuses = deliveries.map(({ status }: { status: number }) => status);
      expect(statuses).toEqual(Array(types.length * 3).fill(400));
      expect(effects).toMatchObject({ measured: 'chain', mints: 0, mintedBefore: 1, mintedTwice: [] });
    },
  );

  test('all of them three times, shuffled, six at once: one mint for each of the two sessions that were paid, and none for the others; the report says so', async () => {
    const ids = (await recorded()).map(({ id }) => id);
    const args = [
      'webhooks',
      'replay',
      ...ids,
      '--times',
      '3',
      '--concurrency',
      '6',
      '--reorder',
      'shuffle:11',
    ];
    const first = await rewards([...args, '--expect-effects', '2'], { cwd: project.path });
    expect(first.stderr).toBe('');
    expect(first.code).toBe(0);
    expect(first.stdout).toContain(
      `✓ exactly once: ${ids.length * 3} deliveries, 2 mints (1 session minted before)  counted on chain`,
    );

    const again = await json(...args.slice(1), '--new-id', '--expect-effects', 'none');
    expect(again.envelope.error).toBeUndefined();
    expect(again.envelope.data.effects).toMatchObject({ mints: 0, mintedBefore: 3, mintedTwice: [] });
  });

  test('by way of the receiver, beside the processor that tells payment-mint itself: one mint', async () => {
    const session = await checkout(7);
    const run = startHere(['receiver', '--port', '0', '-o', 'json'], { cwd: project.path });
    const { url } = JSON.parse(await run.nextLine());
    await step(session, 'pay', { webhook: true });
    const { id } = (await json('list', '--object', session, '--type', 'checkout.session.completed')).envelope
      .data.events[0];
    const { envelope } = await json('replay', id, '--to', url, '--times', '5', '--concurrency', '5');
    expect(envelope.data.deliveries.map(({ status }: { status: number }) => status)).toEqual(
      Array(5).fill(200),
    );
    const { mints, mintedBefore, mintedTwice } = envelope.data.effects;
    expect({ inAll: mints + mintedBefore, mintedTwice }).toEqual({ inAll: 1, mintedTwice: [] });
    run.signal('SIGTERM');
    await run.ended;
  });

  test('ledger and chain agree afterwards', async () => {
    const { code, stderr } = await rewards(['verify'], { cwd: project.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
