/** What falls due while the clock moves happens at its time and in its order: seen by those to whom it happens. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import { startReceiver } from '../../kits/network/receivers.ts';
import { until } from '../../kits/service/clock.ts';

const START_MS = Date.UTC(2031, 0, 1, 12);
const HOUR = 3_600_000;
type Fired = { at: string; kind: string; what: string; id?: string };

let kit: RelayKit;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let failingEndpoint: string;
/** What the clock said when a request came, by path. */
const heard: { path: string; atMs: number }[] = [];
const clockNow = async () => (await kit.request(`${kit.ready.urls.control}/clock`)).body.nowMs as number;
const heardAt = (path: string) => heard.filter((one) => one.path === path).map(({ atMs }) => atMs);

beforeAll(async () => {
  [kit, receiver] = await Promise.all([
    startRelayKit({
      clockStartMs: START_MS,
      frozen: true,
      relay: { userLimit: { scope: 'relay user', limit: 1, windowMs: HOUR } },
    }),
    startReceiver(async ({ url = '' }, response) => {
      heard.push({ path: url, atMs: await clockNow() });
      response.writeHead(url === '/fails' ? 500 : 200).end();
    }),
  ]);
});
afterAll(async () => {
  await kit?.stop();
  await receiver?.stop();
});

const at = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
const checkout = async () => {
  const { brandId, domain } = kit.brand;
  const page = `https://${domain}/`;
  const wish = { brandId, amount: 500, userEmail: 'bob@demo.example', successUrl: page, cancelUrl: page };
  return (await kit.post('/rewards-api/create-checkout', wish)).body.sessionId as string;
};
const session = async (id: string) =>
  (await kit.request(`${kit.ready.urls.control}/processor/sessions/${id}`)).body;

test('26 hours: retries of a webhook, a window of relayed calls and a checkout, each at its time', async () => {
  const { alice } = kit.users;
  const fails = { brand: kit.brand.domain, url: at('/fails') };
  failingEndpoint = (await kit.control('/webhooks/endpoints', fails)).body.id;
  await kit.control('/processor/endpoints', { url: at('/expired'), events: ['checkout.session.expired'] });
  expect((await kit.event({ userEmail: alice.email })).status).toBe(200);
  await until('the first attempt came', () => heardAt('/fails').length === 1);
  await kit.advance('10m');
  const call = kit.purchase(alice.address);
  expect((await kit.relay(alice, call)).status).toBe(200);
  expect((await kit.relay(alice, call)).status).toBe(429);
  await kit.advance('5m');
  const sessionId = await checkout();
  const fromMs = await clockNow();
  const before = heardAt('/fails').length;

  const { status, body } = await kit.advance('26h');
  expect(status).toBe(200);
  expect(body.nowMs).toBe(fromMs + 26 * HOUR);
  const fired = body.fired as Fired[];
  const times = fired.map((one) => Date.parse(one.at));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const of = (kind: string) => fired.filter((one) => one.kind === kind);

  // Each retry came when it was due, and not all at the end.
  const retries = of('webhook-retry');
  expect(retries.length).toBeGreaterThanOrEqual(4);
  expect(heardAt('/fails').slice(before)).toEqual(retries.map((one) => Date.parse(one.at)));
  expect(retries.map(({ what }) => what)).toEqual(
    retries.map((_, place) => `attempt ${before + place + 1} of reward.distributed to ${at('/fails')}`),
  );
  // The session expired at its time, and the processor told so at that time.
  const expiresAt = new Date(fromMs + 24 * HOUR).toISOString();
  expect(of('checkout-expiry')).toEqual([
    { at: expiresAt, kind: 'checkout-expiry', what: 'the checkout session expires', id: sessionId },
  ]);
  expect((await session(sessionId)).status).toBe('expired');
  expect(heardAt('/expired')).toEqual([fromMs + 24 * HOUR]);
  const told = receiver.received.find(({ path }) => path === '/expired');
  expect(told?.headers['stripe-signature']).toMatch(`t=${(fromMs + 24 * HOUR) / 1_000},`);
  // The window of the relayed call began ten minutes after the start.
  expect(of('window-reset').map((one) => [one.at, one.what])).toContainEqual([
    new Date(START_MS + 10 * 60_000 + HOUR).toISOString(),
    `relay user ${alice.address}: 1 used, all free again`,
  ]);
  expect((await kit.relay(alice, call)).status).toBe(200);
  expect(await kit.now()).toBe(body.nowMs / 1_000);
}, 60_000);

const to = (condition: string) => kit.control('/clock', { until: condition });

test('window-reset: a relayed call is refused one millisecond before, and passes at the moment', async () => {
  const { bob } = kit.users;
  const call = kit.purchase(bob.address);
  expect((await kit.relay(bob, call)).status).toBe(200);
  const endsMs = (await clockNow()) + HOUR;
  await kit.control('/clock', { set: endsMs - 1 });
  expect((await kit.relay(bob, call)).status).toBe(429);
  const moved = await to(`window-reset:${bob.address}`);
  expect([moved.status, moved.body.nowMs]).toEqual([200, endsMs]);
  expect((await kit.relay(bob, call)).status).toBe(200);
  // By the user's e-mail as well.
  expect((await to(`window-reset:${bob.email}`)).body.nowMs).toBe(endsMs + HOUR);
  expect((await to(`window-reset:${bob.email}`)).body).toMatchObject({
    error: `The window of ${bob.email} has been over since ${new Date(endsMs + HOUR).toISOString()}`,
    details: { reason: 'condition_not_ahead', why: 'already_passed' },
  });
  expect((await to('window-reset:nobody@demo.example')).body).toMatchObject({
    error: 'No window of a limit counts nobody@demo.example',
    details: { why: 'not_found' },
  });
});

test('webhook-retry: the next attempt has been made, and none before; a delivered one has no next', async () => {
  heard.length = 0;
  expect((await kit.event({ userEmail: 'carol@demo.example' })).status).toBe(200);
  await until('the first attempt came', () => heardAt('/fails').length > 0);
  const body = JSON.parse(receiver.received.findLast(({ path }) => path === '/fails')?.body.toString() ?? '');
  const attempts = async () => {
    const shown = await kit.request(`${kit.ready.urls.control}/webhooks/deliveries/${body.id}`);
    return shown.body.deliveries as { state: string; log: { at: string }[] }[];
  };
  const failing = async () => (await attempts()).find(({ state }) => state === 'waiting')?.log ?? [];
  await until('its failure is kept', async () => (await failing()).length === 1);
  const moved = await to(`webhook-retry:${body.id}`);
  expect(moved.status).toBe(200);
  expect(moved.body.fired.at(-1)).toMatchObject({ kind: 'webhook-retry', id: body.id, at: moved.body.now });
  expect((await failing()).map((one) => one.at).at(-1)).toBe(moved.body.now);
  expect(await failing()).toHaveLength(2);
  expect((await to('webhook-retry:latest')).status).toBe(200);
  expect((await to('webhook-retry:evt_none')).body).toMatchObject({
    error: 'No webhook evt_none is on its way',
    details: { why: 'not_found' },
  });
});

test('checkout-expiry: the session can be paid one millisecond before, and not at the moment', async () => {
  const [paid, expired] = [await checkout(), await checkout()];
  const pay = (id: string) => kit.control(`/processor/sessions/${id}/pay`, {});
  const endsMs = Date.parse((await session(expired)).expiresAt);
  await kit.control('/clock', { set: endsMs - 1 });
  expect((await pay(paid)).status).toBe(200);
  const moved = await to('checkout-expiry:latest');
  expect([moved.status, moved.body.nowMs]).toEqual([200, endsMs]);
  expect((await pay(expired)).status).toBe(409);
  expect((await to(`checkout-expiry:${paid}`)).body).toMatchObject({
    error: `The session ${paid} is paid, so it does not expire`,
    details: { why: 'never' },
  });
  expect((await to(`checkout-expiry:${expired}`)).body.details.why).toBe('already_passed');
  expect((await to('checkout-expiry:cs_test_none')).body.error).toBe('No checkout session cs_test_none');
});

test('a receiver that never answers holds up one move, and no retry of another', async () => {
  const hanging = await startReceiver(() => new Promise(() => {}));
  const hangs = { brand: kit.brand.domain, url: `http://127.0.0.1:${hanging.port}/` };
  const { id } = (await kit.control('/webhooks/endpoints', hangs)).body;
  heard.length = 0;
  expect((await kit.event({ userEmail: 'dan@demo.example' })).status).toBe(200);
  await until('both were tried', () => hanging.received.length > 0 && heardAt('/fails').length > 0);
  for (const duration of ['10s', '10m']) {
    const before = heardAt('/fails').length;
    const { status, body } = await kit.advance(duration);
    expect(status).toBe(200);
    const retries = (body.fired as Fired[]).filter(({ what }) => what.endsWith('/fails'));
    expect(retries.length).toBeGreaterThan(0);
    expect(heardAt('/fails').slice(before)).toEqual(retries.map((one) => Date.parse(one.at)));
  }
  await kit.request(`${kit.ready.urls.control}/webhooks/endpoints/${id}`, { method: 'DELETE' });
  await hanging.stop();
});

test('a jump over years ends soon, lists what came first, and counts the rest', async () => {
  const endpoints = `${kit.ready.urls.control}/webhooks/endpoints`;
  await kit.request(`${endpoints}/${failingEndpoint}`, { method: 'DELETE' });
  const eventTypes = ['daily_login', 'social_share', 'rate_experience'];
  const events = Array.from({ length: 102 }, (_, place) => ({
    userEmail: `many${place}@demo.example`,
    eventType: eventTypes[place % eventTypes.length],
  }));
  const answers = await Promise.all(events.map((one) => kit.event(one)));
  expect(answers.filter((one) => one.status !== 200)).toEqual([]);
  const { status, body } = await kit.advance('3650d');
  expect(status).toBe(200);
  expect(body.fired).toHaveLength(100);
  expect(body.firedMore).toBeGreaterThanOrEqual(2);
});
