import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAnvil } from '../../kits/chain/chain.ts';
import { startRpcProxy } from '../../kits/chain/rpc-proxy.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';
import { clientOf, someone } from '../../kits/service/service.ts';

/**
 * A node that takes a moment to answer, as a node far away does: what arrives meanwhile goes together. Otherwise it
 * would be this machine's speed that says how many transactions there are.
 */
const NODE_TAKES_MS = 1_000;

describe.each(databaseKinds)(
  'many users at once, the service in a process of its own, on $kind',
  ({ open }) => {
    let stack: Awaited<ReturnType<typeof serve>>;
    let anvil: Awaited<ReturnType<typeof startAnvil>>;
    let node: Awaited<ReturnType<typeof startRpcProxy>>;
    let database: TestDatabase;
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
    beforeAll(async () => {
      database = await open();
      directory = await temporaryDirectory();
      anvil = await startAnvil(['--hardfork', 'cancun', '--gas-limit', '1000000000']);
      node = await startRpcProxy({ target: anvil.url, seed: 1 });
      const on = database.databaseUrl ? ['--database-url', database.databaseUrl] : [];
      const args = ['--ephemeral', '--port', '0', '--rpc-url', node.url, ...on];
      stack = await serve(args, { cwd: directory.path });
      const method = /^eth_sendRawTransaction$/;
      node.add({ fault: 'delay', delayMs: NODE_TAKES_MS, probability: 1, method });
    });
    afterAll(async () => {
      await stack?.stop();
      await node?.stop();
      await anvil?.stop();
      await database?.stop();
      await directory?.remove();
    });

    test('200 users get 200 rewards in far fewer transactions', { timeout: 90_000 }, async () => {
      const client = clientOf(stack.ready);
      const users = Array.from({ length: 200 }, someone);
      const answers = await Promise.all(users.map((userEmail) => client.event({ userEmail })));
      expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
      const balances = await Promise.all(answers.map(({ body }) => client.balanceOf(body.walletAddress)));
      expect(balances).toEqual(Array(200).fill(100n));
      expect(new Set(answers.map(({ body }) => body.walletAddress)).size).toBe(200);
      expect(new Set(answers.map(({ body }) => body.transactionHash)).size).toBeLessThan(50);
    });
  },
);
