/** `rewards webhooks` and `rewards receiver` beside the emulated processor of a real stack. */
import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewards, rewardsJson, serveHere, startHere, temporaryDirectory } from '../kits/service/cli.ts';
import { stubService } from './stub-service.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stripe: Stripe;
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const webhooks = (...args: string[]) => json('webhooks', ...args);

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: project.path });
  const { hostname: host, port } = new URL(stack.ready.processor.url);
  stripe = new Stripe(stack.ready.processor.secretKey, { host, port, protocol: 'http' });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

/** A session of the processor's that somebody pays; its id. */
async function paidSession(): Promise<string> {
  const { id } = await stripe.checkout.sessions.create({
    mode: 'payment',
    success_url: 'https://shop.example/thanks',
    line_items: [
      { quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'RWT' } } },
    ],
  });
  const paid = await fetch(`${stack.ready.urls.control}/processor/sessions/${id}/pay`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.ready.controlToken}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(paid.status).toBe(200);
  return id;
}

const completedOf = async (session: string) => {
  const { envelope } = await webhooks('list', '--object', session, '--type', 'checkout.session.completed');
  return envelope.data.events[0];
};

test('list and show tell each event of the log, and every attempt to deliver it', async () => {
  const session = await paidSession();
  await expect
    .poll(async () => (await completedOf(session)).deliveries[0]?.attempts.length)
    .toBeGreaterThan(0);
  const { id } = await completedOf(session);
  const { stdout } = await rewards(['webhooks', 'list'], { cwd: project.path });
  expect(stdout).toContain(`checkout.session.completed  ${id}  ${session}`);
  expect(stdout).toContain('payment_intent.succeeded');
  const shown = await webhooks('show', id);
  expect(shown.envelope.data.event).toMatchObject({
    id,
    objectId: session,
    payload: { id, object: 'event' },
  });
  const text = await rewards(['webhooks', 'show', id], { cwd: project.path });
  expect(text.stdout).toMatch(/"payment_status": "paid"/);
  const missing = await webhooks('show', 'evt_none');
  expect(missing).toMatchObject({ code: 1, envelope: { error: { code: 'E_REFUSED' } } });
});

test('replay delivers what was recorded, signed on the clock of the emulator with the secret of the endpoint', async () => {
  const session = await paidSession();
  const { id } = await completedOf(session);
  const shop = await stubService(() => ({ body: { received: true } }));
  await json('clock', 'advance', '3h');
  const { envelope } = await webhooks(
    'replay',
    id,
    '--to',
    shop.url,
    '--secret',
    'whsec_shop',
    '--times',
    '2',
  );
  expect(envelope.data.effects).toMatchObject({ measured: 'chain', deliveries: 2 });
  const [asked] = shop.asked;
  const signature = String(asked?.headers['stripe-signature']);
  const signedMs = Number(/t=(\d+)/.exec(signature)?.[1]) * 1_000;
  expect(signedMs - Date.now()).toBeGreaterThan(2.9 * 3_600_000);
  const body = asked?.body ?? '';
  expect(Stripe.webhooks.constructEvent(body, signature, 'whsec_shop')).toMatchObject({ id });
  await shop.close();

  const { deliveries } = (await webhooks('replay', 'latest')).envelope.data;
  expect(deliveries[0].status).not.toBeNull();
});

test('listen passes events on byte for byte, with a line for each answer, until it is stopped', async () => {
  const { stdout } = await rewards(['webhooks', 'listen', '--print-secret'], { cwd: project.path });
  expect(stdout).toBe(`${stack.ready.processor.webhookSecret}\n`);
  const shop = await stubService(() => ({ status: 204, text: '' }));
  const args = ['webhooks', 'listen', '--forward-to', shop.url, '--events', 'payment_intent.succeeded'];
  const run = startHere([...args, '-o', 'json'], { cwd: project.path });
  expect(JSON.parse(await run.nextLine())).toMatchObject({ type: 'ready', forwardTo: shop.url });
  await paidSession();
  const line = JSON.parse(await run.nextLine());
  expect(line).toMatchObject({ type: 'event', eventType: 'payment_intent.succeeded', status: 204 });
  const [{ body = '', headers } = {}] = shop.asked;
  const signature = String(headers?.['stripe-signature']);
  const event = Stripe.webhooks.constructEvent(body, signature, stack.ready.processor.webhookSecret);
  expect(event.id).toBe(line.eventId);
  run.signal('SIGINT');
  expect(await run.ended).toBe(0);
  expect(shop.asked).toHaveLength(1);
  await shop.close();
  expect(await endpoints()).toHaveLength(1);
});

async function endpoints(): Promise<unknown[]> {
  const response = await fetch(`${stack.ready.urls.control}/processor/endpoints`, {
    headers: { authorization: `Bearer ${stack.ready.controlToken}` },
  });
  return JSON.parse(await response.text()).endpoints;
}

test('listen without an address only prints, and says which event does not exist', async () => {
  const run = startHere(['webhooks', 'listen', '--events', 'checkout.session.completed'], {
    cwd: project.path,
  });
  expect(await run.nextLine()).toContain('and only prints them');
  const session = await paidSession();
  expect(await run.nextLine()).toMatch(/checkout\.session\.completed {2}evt_/);
  run.signal('SIGINT');
  expect(await run.ended).toBe(0);
  const { deliveries } = await completedOf(session);
  expect(deliveries.map(({ state }: { state: string }) => state)).toContain('delivered');
  const wrong = await webhooks('listen', '--events', 'cart.filled');
  expect(wrong).toMatchObject({ code: 1 });
  expect(wrong.envelope.error.message).toContain('cart.filled');
});

test('sign and verify have the secret and the clock of the stack where no secret is given', async () => {
  const stdin = '{"id":"evt_1"}';
  const sign = ['webhooks', 'sign', '-', '--scheme', 'processor'];
  const { stdout, stderr } = await rewards(sign, { cwd: project.path, stdin });
  expect(stderr).toContain('the emulated payment processor');
  const verify = ['webhooks', 'verify', '-', '-H', stdout.trim()];
  const verified = await rewards(verify, { cwd: project.path, stdin });
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ stripe-signature verifies') });
  // The emulator is hours ahead of this machine.
  const byHand = [...verify, '--secret', stack.ready.processor.webhookSecret];
  expect((await rewards(byHand, { cwd: project.path, stdin })).stderr).toContain('in the future');
});

test('the receiver registers itself, believes the emulator’s clock, and leaves nothing behind', async () => {
  const mint = await stubService(() => ({ body: { success: true, message: 'Minted', txHash: '0xab' } }));
  const args = ['receiver', '--port', '0', '--forward-to', mint.url, '-o', 'json'];
  const run = startHere(args, { cwd: project.path });
  const ready = JSON.parse(await run.nextLine());
  expect(ready.endpoint).toMatch(/^we_/);
  const session = await paidSession();
  const lines = [JSON.parse(await run.nextLine()), JSON.parse(await run.nextLine())];
  expect(lines.map(({ what, status }) => [what, status]).toSorted()).toEqual([
    ['forwarded', 200],
    ['logged', 200],
  ]);
  expect(mint.asked.map(({ body }) => body)).toEqual([JSON.stringify({ sessionId: session })]);
  run.signal('SIGTERM');
  expect(await run.ended).toBe(0);
  expect(await endpoints()).toHaveLength(1);

  const quiet = startHere([...args, '--no-register', '--secret', 'whsec_own'], { cwd: project.path });
  expect(JSON.parse(await quiet.nextLine())).toMatchObject({ endpoint: null });
  quiet.signal('SIGTERM');
  await quiet.ended;
  await mint.close();
});
