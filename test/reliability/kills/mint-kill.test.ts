/** Killed at every moment of a mint while 200 callers ask for it: the session is minted once, and every caller hears of that one mint. */
import { createPublicClient, type Hex, http } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { pointsSaleAbi } from '../../../src/chain/contracts/abis.ts';
import { sessionMintKey } from '../../../src/chain/contracts/sale-mint.ts';
import { crashPoints } from '../../../src/lib/crash-points.ts';
import { type AnvilProcess, startAnvil } from '../../kits/chain.ts';
import { serve, temporaryDirectory } from '../../kits/cli.ts';
import { databaseKinds } from '../../kits/databases.ts';
import { type Answer, clientOf } from '../../kits/service.ts';

const CHAIN = ['--hardfork', 'cancun', '--gas-limit', '1000000000'];
const CALLERS = 200;
const API = '/rewards-api';
const CENTS = 2_500;
const RWT = 25_000n;
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 60_000);

type Client = ReturnType<typeof clientOf>;

/** A session of the demo brand that is paid, and of which no event has told. */
async function paidSession(client: Client): Promise<string> {
  const { brandId, domain, apiKey } = client.brand;
  const checkout = await client.post(
    `${API}/create-checkout`,
    {
      ...{ brandId, amount: CENTS, userEmail: 'buyer@people.example' },
      ...{ successUrl: `https://${domain}/thanks`, cancelUrl: `https://${domain}/cart` },
    },
    { authorization: `Bearer ${apiKey}` },
  );
  expect(checkout.status, JSON.stringify(checkout.body)).toBe(200);
  const { sessionId } = checkout.body;
  const paid = await client.control(`/processor/sessions/${sessionId}/pay`, { webhook: false });
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  return sessionId;
}

const mint = (client: Client, sessionId: string): Promise<Answer | undefined> =>
  client.post(`${API}/payment-mint`, { sessionId }).catch(() => undefined);

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
async function mintedOnce(
  url: string,
  client: Client,
  of: { sessionId: string; told: (Answer | undefined)[] },
) {
  const { sessionId, told } = of;
  const again = await mint(client, sessionId);
  expect(again?.status, JSON.stringify(again?.body)).toBe(200);
  const sales = await salesOf(url, client, sessionId);
  expect(sales).toEqual([{ eventName: 'Minted', transactionHash: again?.body.txHash }]);
  const heard = [...told, again].filter((answer) => answer?.status === 200);
  expect(new Set(heard.map((answer) => answer?.body.txHash)).size).toBe(1);
  // Whoever planned it may have been killed before it could say so.
  expect(heard.filter((answer) => answer?.body.alreadyProcessed === undefined).length).toBeLessThanOrEqual(1);
  const refused = told.filter((answer) => answer !== undefined && answer.status !== 200);
  for (const answer of refused)
    expect(answer?.status, JSON.stringify(answer?.body)).toBeGreaterThanOrEqual(500);
  expect(await client.balanceOf(client.brand.brandId)).toBe(RWT);
  const verify = async () => (await client.request(`${client.ready.urls.control}/verify`)).body;
  await expect.poll(async () => (await verify()).ok, { timeout: 20_000 }).toBe(true);
}

/** Those that the work of a mint passes; the rest belongs to events, or to offers that nobody takes for a while. */
const ofMints = crashPoints.filter((point) => /^(?:lane\.(?!bump)|follow\.(?!reopened))/.test(point));
/** All with TORTURE_POINTS=all; else those at which the commits differ most. */
const moments: Record<'sqlite' | 'postgres', readonly string[]> =
  process.env.TORTURE_POINTS === 'all'
    ? { sqlite: ofMints, postgres: ofMints }
    : {
        sqlite: ['lane.signed', 'lane.before-store', 'lane.stored', 'lane.sent', 'follow.before-commit'],
        postgres: ['lane.stored', 'lane.sent', 'follow.committed'],
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
      const sessionId = await paidSession(first.client);
      await first.stop();
      const second = await life('data', { REWARDS_CRASH_AT: `${point}:1` });
      const told = await Promise.all(Array.from({ length: CALLERS }, () => mint(second.client, sessionId)));
      await expect.poll(() => second.child.signalCode, { timeout: 20_000 }).toBe('SIGKILL');
      const third = await life('data');
      await mintedOnce(url, third.client, { sessionId, told });
    },
    120_000,
  );
});

const postgres = databaseKinds.filter(({ kind }) => kind === 'postgres');
describe.skipIf(postgres.length === 0).each(postgres)('two processes (on $kind)', ({ open }) => {
  // Which of the two has the lane or reads a block is not for the test to say: both die where they come to the point.
  test.each([...moments.postgres])(
    `killed at %s while ${CALLERS} callers wait at both: whoever is left or comes next mints the session once`,
    async (point) => {
      const { url, life } = await world(open);
      const healthy = await life('one');
      const sessionId = await paidSession(healthy.client);
      await healthy.stop();
      const crash = { REWARDS_CRASH_AT: `${point}:1` };
      const both = [await life('two', crash), await life('three', crash)] as const;
      const told = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => mint(both[n % 2 === 0 ? 0 : 1].client, sessionId)),
      );
      const killed = () => both.filter(({ child }) => child.signalCode === 'SIGKILL').length;
      await expect.poll(killed, { timeout: 20_000 }).toBeGreaterThan(0);
      const next = await life('four');
      await mintedOnce(url, next.client, { sessionId, told });
    },
    120_000,
  );
});
