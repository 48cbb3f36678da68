/**
 * Killed at every moment of a mint while 200 callers and the processor's own webhook ask for it: the session is minted
 * once, and every caller hears of that one mint. The same where a checkout is cut off before its session was noted.
 */
import { Stripe } from 'stripe';
import { createPublicClient, type Hex, http } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { pointsSaleAbi } from '../../../src/chain/contracts/abis.ts';
import { sessionMintKey } from '../../../src/chain/contracts/sale-mint.ts';
import { crashPoints, paymentCrashPoints } from '../../../src/lib/crash-points.ts';
import { type AnvilProcess, startAnvil } from '../../kits/chain/chain.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { type Answer, clientOf } from '../../kits/service/service.ts';

const CHAIN = ['--hardfork', 'cancun', '--gas-limit', '1000000000'];
const CALLERS = 200;
/** Of which one in ten is the processor, which sends its event again and again. */
const EVENT_EVERY = 10;
const API = '/rewards-api';
const CENTS = 2_500;
const RWT = 25_000n;
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 60_000);

type Client = ReturnType<typeof clientOf>;

/** A session that is paid, and the processor's event of it, of which nobody was told. */
interface Paid {
  sessionId: string;
  eventId: string;
  /** As the processor sends it: the text of the body, and its `Stripe-Signature`. */
  signed: { text: string; signature: string };
}

/** Asks for a checkout of the demo brand. */
const checkout = (client: Client, headers: Record<string, string> = {}): Promise<Answer> => {
  const { brandId, domain, apiKey } = client.brand;
  return client.post(
    `${API}/create-checkout`,
    {
      brandId,
      amount: CENTS,
      userEmail: 'buyer@people.example',
      successUrl: `https://${domain}/thanks`,
      cancelUrl: `https://${domain}/cart`,
    },
    { authorization: `Bearer ${apiKey}`, ...headers },
  );
};

const show = async (client: Client, path: string) =>
  (await client.request(`${client.ready.urls.control}${path}`)).body;

/** Pays a session at the processor. */
async function pay(client: Client, sessionId: string): Promise<Paid> {
  const paid = await client.control(`/processor/sessions/${sessionId}/pay`, { webhook: false });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  const { events } = await show(client, `/processor/events?object=${sessionId}`);
  expect(events).toMatchObject([{ type: 'checkout.session.completed', deliveries: [] }]);
  const [{ id: eventId }] = events;
  const text = JSON.stringify((await show(client, `/processor/events/${eventId}`)).payload);
  const { webhookSecret: secret } = client.ready.processor;
  const timestamp = Math.floor(Date.parse((await show(client, '/clock')).now) / 1_000);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp });
  return { sessionId, eventId, signed: { text, signature } };
}

/** A session of the demo brand that is paid. */
async function paidSession(client: Client): Promise<Paid> {
  const { status, body } = await checkout(client);
  expect(status, JSON.stringify(body)).toBe(200);
  return pay(client, body.sessionId);
}

const mint = (client: Client, sessionId: string): Promise<Answer | undefined> =>
  client.post(`${API}/payment-mint`, { sessionId }).catch(() => undefined);

/** The event, as the processor sends it. */
const tell = (client: Client, { text, signature }: Paid['signed']): Promise<Answer | undefined> =>
  client.post(`${API}/payment-mint`, text, { 'stripe-signature': signature }).catch(() => undefined);

/** Has the emulated processor send its event itself; it goes on until the event is taken. */
const deliver = (client: Client, { eventId }: Paid): Promise<Answer | undefined> =>
  client.control(`/processor/events/${eventId}/resend`, {}).catch(() => undefined);

/** All callers at once, spread over the processes, among them the processor with its event and what it sends itself. */
async function crowd(clients: readonly Client[], paid: Paid): Promise<(Answer | undefined)[]> {
  const delivered = clients.map((client) => deliver(client, paid));
  const told = Array.from({ length: CALLERS }, (_, n) => {
    const client = clients[n % clients.length] as Client;
    return mint(client, paid.sessionId);
  });
  const events = Array.from({ length: CALLERS / EVENT_EVERY }, (_, n) =>
    tell(clients[n % clients.length] as Client, paid.signed),
  );
  await Promise.all(delivered);
  return Promise.all([...told, ...events]);
}

/** The processor ends with its event taken, by an answer that names the mint; also where a kill cut its attempts. */
async function processorHears(client: Client, { paid, txHash }: { paid: Paid; txHash: string }) {
  expect((await deliver(client, paid))?.status).toBe(200);
  const deliveries = async () =>
    (await show(client, `/processor/deliveries?event=${paid.eventId}`)).deliveries as {
      state: string;
      nextAt: string | null;
      attempts: { status: number | null; answer: string }[];
    }[];
  await until('the event is taken', async () => {
    const waiting = (await deliveries()).filter(({ state }) => state !== 'delivered');
    // What failed while a process was gone waits for the processor's next try; what is due is on its way.
    const now = Date.parse((await show(client, '/clock')).now);
    const isLater = waiting.every(({ nextAt }) => nextAt !== null && Date.parse(nextAt) > now);
    if (waiting.length > 0 && isLater) await client.advance('1m');
    return waiting.length === 0;
  });
  for (const { attempts } of await deliveries()) {
    const last = attempts.at(-1);
    expect(last?.status).toBe(200);
    expect(last?.answer).toContain(txHash);
  }
}

/** What the sale has done for a session, by any event of its key. */
async function salesOf(url: string, client: Client, sessionId: string) {
  const node = createPublicClient({ transport: http(url) });
  const address = client.ready.contracts.pointsSale as Hex;
  const events = await node.getContractEvents({ address, abi: pointsSaleAbi, fromBlock: 0n });
  const key = sessionMintKey(sessionId);
  return events.flatMap(({ args, eventName, transactionHash }) =>
    (args as { key?: string }).key === key ? [{ eventName, transactionHash }] : [],
  );
}

/** One mint, of which every caller that was told anything was told; ledger and chain agree. */
async function mintedOnce(url: string, client: Client, of: { paid: Paid; told: (Answer | undefined)[] }) {
  const { paid, told } = of;
  const { sessionId } = paid;
  const again = await mint(client, sessionId);
  expect(again?.status, JSON.stringify(again?.body)).toBe(200);
  const sales = await salesOf(url, client, sessionId);
  expect(sales).toEqual([{ eventName: 'Minted', transactionHash: again?.body.txHash }]);
  const heard = [...told, again].filter((answer) => answer?.status === 200);
  expect(new Set(heard.map((answer) => answer?.body.txHash)).size).toBe(1);
  // Its planner may have been killed before it could say so.
  expect(heard.filter((answer) => answer?.body.alreadyProcessed === undefined).length).toBeLessThanOrEqual(1);
  const refused = told.filter((answer) => answer !== undefined && answer.status !== 200);
  for (const answer of refused)
    expect(answer?.status, JSON.stringify(answer?.body)).toBeGreaterThanOrEqual(500);
  expect(await client.balanceOf(client.brand.brandId)).toBe(RWT);
  await processorHears(client, { paid, txHash: again?.body.txHash });
  expect(await salesOf(url, client, sessionId)).toHaveLength(1);
  const verify = async () => (await client.request(`${client.ready.urls.control}/verify`)).body;
  await expect.poll(async () => (await verify()).ok, { timeout: 20_000 }).toBe(true);
}

/** Those that the work of a mint passes; the rest belongs to events, or to offers that nobody takes for a while. */
const ofMints = [...paymentCrashPoints, ...crashPoints].filter((point) =>
  /^(?:mint\.|lane\.(?!bump)|follow\.(?!reopened))/.test(point),
);
/** All with TORTURE_POINTS=all; else those at which the commits differ most. */
const moments: Record<'sqlite' | 'postgres', readonly string[]> =
  process.env.TORTURE_POINTS === 'all'
    ? { sqlite: ofMints, postgres: ofMints }
    : {
        sqlite: ['mint.committed', 'lane.before-store', 'lane.stored', 'lane.sent', 'follow.before-commit'],
        postgres: ['mint.before-commit', 'lane.stored', 'follow.committed'],
      };

async function world(open: (typeof databaseKinds)[number]['open']) {
  const anvil: AnvilProcess = await startAnvil(CHAIN);
  stops.push(() => anvil.stop());
  const { databaseUrl, stop } = await open();
  stops.push(stop);
  const { path: cwd, remove } = await temporaryDirectory();
  stops.push(remove);
  const args = ['--port', '0', '--rpc-url', anvil.url];
  if (databaseUrl) args.push('--database-url', databaseUrl);
  return {
    url: anvil.url,
    async life(folder: string, env: Record<string, string> = {}) {
      const stack = await serve([...args, '--persist-to', folder], { cwd, env });
      stops.push(async () => stack.child.exitCode ?? stack.child.signalCode ?? stack.stop('SIGKILL'));
      return { ...stack, client: clientOf(stack.ready) };
    },
  };
}

describe.each(databaseKinds)('one process (on $kind)', ({ kind, open }) => {
  test.each([...moments[kind]])(
    `killed at %s while ${CALLERS} callers wait: after a restart the session is minted once`,
    async (point) => {
      const { url, life } = await world(open);
      const first = await life('data');
      const paid = await paidSession(first.client);
      await first.stop();
      const second = await life('data', { REWARDS_CRASH_AT: `${point}:1` });
      const told = await crowd([second.client], paid);
      await expect.poll(() => second.child.signalCode, { timeout: 20_000 }).toBe('SIGKILL');
      const third = await life('data');
      await mintedOnce(url, third.client, { paid, told });
    },
    120_000,
  );
});

describe.each(databaseKinds)('a checkout (on $kind)', ({ open }) => {
  test("killed between the processor's answer and our note: its session is paid, minted once, and still the key's answer", async () => {
    const { url, life } = await world(open);
    const first = await life('data', { REWARDS_CRASH_AT: 'checkout.made:1' });
    const key = { 'idempotency-key': 'checkout-that-is-cut-off' };
    await expect(checkout(first.client, key)).rejects.toThrow();
    await expect.poll(() => first.child.signalCode, { timeout: 20_000 }).toBe('SIGKILL');
    const second = await life('data');
    const { sessions } = await show(second.client, '/processor/sessions');
    expect(sessions).toMatchObject([{ status: 'open' }]);
    const paid = await pay(second.client, sessions[0].id);
    const told = await crowd([second.client], paid);
    expect(told.filter((answer) => answer?.status !== 200)).toEqual([]);
    const again = await checkout(second.client, key);
    expect(again.body).toMatchObject({ sessionId: paid.sessionId });
    expect((await show(second.client, '/processor/sessions')).sessions).toHaveLength(1);
    await mintedOnce(url, second.client, { paid, told });
  }, 120_000);
});

const postgres = databaseKinds.filter(({ kind }) => kind === 'postgres');
describe.skipIf(postgres.length === 0).each(postgres)('two processes (on $kind)', ({ open }) => {
  // Which of the two has the lane or reads a block is not for the test to say: both die where they come to the point.
  test.each([...moments.postgres])(
    `killed at %s while ${CALLERS} callers wait at both: whoever is left or comes next mints the session once`,
    async (point) => {
      const { url, life } = await world(open);
      const healthy = await life('one');
      const paid = await paidSession(healthy.client);
      await healthy.stop();
      const crash = { REWARDS_CRASH_AT: `${point}:1` };
      const both = [await life('two', crash), await life('three', crash)] as const;
      const told = await crowd(
        both.map(({ client }) => client),
        paid,
      );
      const killed = () => both.filter(({ child }) => child.signalCode === 'SIGKILL').length;
      await expect.poll(killed, { timeout: 20_000 }).toBeGreaterThan(0);
      const next = await life('four');
      await mintedOnce(url, next.client, { paid, told });
    },
    120_000,
  );
});
