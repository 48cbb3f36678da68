/** contract: Limits, Relay transactions, when two processes share one database and everybody comes at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AnvilProcess, startAnvil } from '../../kits/chain.ts';
import { serve, temporaryDirectory } from '../../kits/cli.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases.ts';
import { FREE_PERK, type RelayKit, relayKitOf } from '../../kits/wallet.ts';

const USERS = 10;
const EACH = 100;
const postgres = databaseKinds.find(({ kind }) => kind === 'postgres');

describe.skipIf(!postgres)('two processes on one Postgres', () => {
  let anvil: AnvilProcess;
  let database: TestDatabase | undefined;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const stacks: Awaited<ReturnType<typeof serve>>[] = [];
  const kits: Awaited<ReturnType<typeof relayKitOf>>[] = [];
  beforeAll(async () => {
    anvil = await startAnvil(['--hardfork', 'cancun', '--gas-limit', '1000000000']);
    database = await postgres?.open();
    folder = await temporaryDirectory();
    const on = ['--database-url', database?.databaseUrl ?? '', '--rpc-url', anvil.url];
    for (let n = 0; n < 2; n++) {
      const stack = await serve(['--ephemeral', '--port', '0', ...on], { cwd: folder.path });
      stacks.push(stack);
      kits.push(await relayKitOf(stack.ready));
    }
  }, 60_000);
  afterAll(async () => {
    for (const stack of stacks) await stack.stop();
    await database?.stop();
    await anvil?.stop();
    await folder?.remove();
  }, 30_000);

  test(`${USERS * EACH} calls at once: 35 of each user, neither more nor fewer`, async () => {
    const [one, two] = kits as [RelayKit, RelayKit];
    // A token is of the process that issued it: everybody has one of each.
    const tokensOf = async (kit: RelayKit) =>
      Promise.all(Array.from({ length: USERS }, (_, n) => kit.keyless(`crowd-${n}@people.example`)));
    const users = await tokensOf(one);
    const others = await tokensOf(two);
    const answers = await Promise.all(
      users.flatMap((user, place) =>
        Array.from({ length: EACH }, async (_, n) => {
          const call = one.purchase(user.address);
          const { status, body } = await (n % 2
            ? one.relay(user, call)
            : two.relay(others[place] ?? user, call));
          return { user, status, code: body.code };
        }),
      ),
    );
    const codes = new Set(answers.map(({ code, status }) => code ?? status));
    expect([...codes].sort()).toEqual([200, 'RATE_LIMIT_EXCEEDED']);
    for (const user of users) {
      const own = answers.filter((answer) => answer.user === user);
      expect(own.filter(({ status }) => status === 200)).toHaveLength(35);
      expect(own.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(EACH - 35);
      expect(await one.perksOf(user.address, FREE_PERK)).toBe(35n);
    }
  }, 120_000);
});
