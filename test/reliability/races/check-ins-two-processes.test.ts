/** Check-ins when two processes share one database and a user comes from everywhere at once: a day is counted and paid once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AnvilProcess, startAnvil } from '../../kits/chain.ts';
import { serve, temporaryDirectory } from '../../kits/cli.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases.ts';
import { clientOf } from '../../kits/service.ts';

const AT_ONCE = 200;
const USER = 'everywhere@people.example';
const postgres = databaseKinds.find(({ kind }) => kind === 'postgres');

describe.skipIf(!postgres)('two processes on one Postgres', () => {
  let anvil: AnvilProcess;
  let database: TestDatabase | undefined;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const stacks: Awaited<ReturnType<typeof serve>>[] = [];
  beforeAll(async () => {
    anvil = await startAnvil(['--hardfork', 'cancun', '--gas-limit', '1000000000']);
    database = await postgres?.open();
    folder = await temporaryDirectory();
    const on = ['--database-url', database?.databaseUrl ?? '', '--rpc-url', anvil.url];
    for (let n = 0; n < 2; n++)
      stacks.push(await serve(['--ephemeral', '--port', '0', ...on], { cwd: folder.path }));
  }, 60_000);
  afterAll(async () => {
    for (const stack of stacks) await stack.stop();
    await database?.stop();
    await anvil?.stop();
    await folder?.remove();
  }, 30_000);

  test(`${AT_ONCE} check-ins of one user at once: one counts, and 10 RWT are on chain`, async () => {
    const clients = stacks.map(({ ready }) => clientOf(ready));
    const [one] = clients as [ReturnType<typeof clientOf>];
    const body = { brandId: one.brand.brandId, userIdentifier: USER, platform: 'web', streakType: 'daily' };
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        (clients[n % clients.length] ?? one).post('/streak/record-activity', body),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const counted = answers.filter((answer) => answer.body.isNewActivity);
    expect(counted.map((answer) => answer.body.reward.final)).toEqual([10]);
    for (const answer of answers) expect(answer.body.currentStreak).toBe(1);
    const stats = await one.request(`/user-stats/${one.brand.brandId}/${encodeURIComponent(USER)}`);
    expect(stats.body).toMatchObject({ balance: 10, lifetime: { earned: 10, claims: 1 } });
    await expect
      .poll(async () => (await one.request(`${one.ready.urls.control}/verify`)).body.ok, { timeout: 20_000 })
      .toBe(true);
  }, 120_000);
});
