import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, temporaryDirectory } from '../support/cli.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { clientOf, someone } from '../support/service.ts';

describe.each(databaseKinds)(
  'many users at once, the service in a process of its own, on $kind',
  ({ open }) => {
    let stack: Awaited<ReturnType<typeof serve>>;
    let database: TestDatabase;
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
    beforeAll(async () => {
      database = await open();
      directory = await temporaryDirectory();
      const on = database.databaseUrl ? ['--database-url', database.databaseUrl] : [];
      stack = await serve(['--ephemeral', '--port', '0', ...on], { cwd: directory.path });
    });
    afterAll(async () => {
      await stack?.stop();
      await database?.stop();
      await directory?.remove();
    });

    test('200 users get 200 rewards in far fewer transactions', async () => {
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
