/** Limits under a crowd, four processes on one Postgres and one chain. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AnvilProcess, startAnvil } from '../../kits/chain/chain.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';
import { clientOf } from '../../kits/service/service.ts';
import { brandIds, type Client, fixture, people, rush, statuses } from './crowd.ts';

const PROCESSES = 4;
const postgres = databaseKinds.find(({ kind }) => kind === 'postgres');
type Stack = Awaited<ReturnType<typeof serve>>;

/** Four stacks that share everything; `together` starts them at the same moment. */
async function startFour(together: boolean) {
  const { path, remove } = await temporaryDirectory();
  const anvil: AnvilProcess = await startAnvil(['--hardfork', 'cancun', '--gas-limit', '1000000000']);
  const database: TestDatabase | undefined = await postgres?.open();
  const args = ['--ephemeral', '--port', '0', '--seed', fixture, '--rpc-url', anvil.url];
  const on = ['--database-url', database?.databaseUrl ?? ''];
  const stacks: Stack[] = [];
  const start = async () => {
    const stack = await serve([...args, ...on], { cwd: path });
    // A start that failed prints why, and nothing else.
    if (!stack.ready.urls) throw new Error(stack.ready.error?.message.split('\n')[0]);
    stacks.push(stack);
  };
  const stop = async () => {
    await Promise.all(stacks.map((stack) => stack.stop()));
    await database?.stop();
    await anvil.stop();
    await remove();
  };
  try {
    if (together) {
      const starts = await Promise.allSettled(Array.from({ length: PROCESSES }, start));
      const problems = starts.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
      if (problems.length > 0) throw new Error(problems.join('\n'));
    } else for (let n = 0; n < PROCESSES; n++) await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { stacks, clients: stacks.map(({ ready }) => clientOf(ready)), stop };
}

describe.skipIf(!postgres)('a crowd, four processes on one Postgres', () => {
  let four: Awaited<ReturnType<typeof startFour>>;
  let first: Client;
  beforeAll(async () => {
    four = await startFour(false);
    const [client] = four.clients;
    if (client) first = client;
  }, 120_000);
  afterAll(() => four?.stop());

  test('they share one set of contracts, one brand and one user', () => {
    const [one, ...others] = four.stacks.map(({ ready: { contracts, users, chain } }) => {
      return { contracts, users, chain };
    });
    for (const other of others) expect(other).toEqual(one);
  });

  test('contract: Limits, Max total claims: of 1,000 at once exactly 100 are rewarded, and paid', async () => {
    const events = people(1_000, 'all').map((userEmail) => ({ eventType: 'hundred_in_all', userEmail }));
    const answers = await rush(four.clients, events);
    expect(statuses(answers)).toEqual({ 200: 100, 429: 900 });
    // An answer says that its transaction was sent; the block comes when the node has time for it.
    await expect.poll(async () => [...(await first.payouts()).values()].flat()).toEqual(Array(100).fill(5n));
    const payouts = await first.payouts();
    const rewarded = answers.filter(({ status }) => status === 200).map(({ body }) => body.walletAddress);
    expect(new Set(rewarded)).toEqual(new Set(payouts.keys()));
    expect(await first.escrowOf(brandIds.crowd)).toBe(1_000_000n - 500n);
  }, 120_000);

  test('contract: Duplicate: of 20 identical events at once, over all processes, one is paid', async () => {
    for (let round = 0; round < 10; round++) {
      const userEmail = `same-${round}@people.example`;
      const answers = await rush(four.clients, Array(20).fill({ eventType: 'one_each', userEmail }));
      expect(statuses(answers)).toEqual({ 200: 1, 409: 19 });
      const { walletAddress } = answers.find(({ status }) => status === 200)?.body ?? {};
      await expect.poll(async () => (await first.payouts()).get(walletAddress)).toEqual([5n]);
    }
  }, 120_000);

  test('one key over all processes: one reward, one answer', async () => {
    const body = {
      brandId: brandIds.crowd,
      domain: 'crowd.example',
      eventType: 'one_each',
      userEmail: 'keyed@people.example',
      idempotencyKey: 'over-four-processes',
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        four.clients[n % PROCESSES]?.post('/rewards-api/manual-event', body),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer?.body))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    const { walletAddress } = answers[0]?.body ?? {};
    await expect.poll(async () => (await first.payouts()).get(walletAddress)).toEqual([5n]);
  }, 120_000);

  test('funds for 100 rewards pay 100 of 300 at once', async () => {
    const events = people(300, 'thin').map((userEmail) => ({ eventType: 'five', userEmail }));
    expect(statuses(await rush(four.clients, events))).toEqual({ 200: 100, 500: 200 });
    await expect.poll(() => first.escrowOf(brandIds.thin)).toBe(0n);
  }, 120_000);
});

describe.skipIf(!postgres)('four processes started at the same moment', () => {
  test('all get ready, with the same contracts, the same users and each brand funded once', async () => {
    const four = await startFour(true);
    try {
      const [one, ...others] = four.stacks.map(({ ready: { contracts, users } }) => ({ contracts, users }));
      for (const other of others) expect(other).toEqual(one);
      expect(await four.clients[0]?.escrowOf(brandIds.crowd)).toBe(1_000_000n);
    } finally {
      await four.stop();
    }
  }, 120_000);
});
