/** Two processes of the program on one Postgres and one chain, for tests in which everybody comes to both at once. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type AnvilProcess, startAnvil } from '../chain/chain.ts';
import { databaseKinds, type TestDatabase } from '../databases/databases.ts';
import { serve, temporaryDirectory } from './cli.ts';
import { clientOf } from './service.ts';

type Client = ReturnType<typeof clientOf>;

export interface TwoProcesses {
  one: Client;
  two: Client;
  /** The clients in turn. */
  nth: (n: number) => Client;
  /** Expects that ledger and chain agree, as soon as what is under way is done; differences of kinds that begin with `butFor` are passed over. */
  agree: (butFor?: string) => Promise<void>;
}

const postgres = databaseKinds.find(({ kind }) => kind === 'postgres');

/** Left out where there is no Postgres. `tests` declares them; what `get` returns is there while they run. */
export function onTwoProcesses(tests: (get: () => TwoProcesses) => void): void {
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
    let made: TwoProcesses | undefined;
    tests(() => {
      made ??= twoOf(stacks.map(({ ready }) => clientOf(ready)));
      return made;
    });
  });
}

function twoOf([one, two]: Client[]): TwoProcesses {
  if (!one || !two) throw new Error('two processes were to run');
  const differences = async (butFor?: string) => {
    const { body } = await one.request(`${one.ready.urls.control}/verify`);
    const all: { kind: string }[] = body.differences;
    return all.filter(({ kind }) => butFor === undefined || !kind.startsWith(butFor));
  };
  return {
    one,
    two,
    nth: (n) => (n % 2 === 0 ? one : two),
    agree: (butFor) => expect.poll(() => differences(butFor), { timeout: 20_000 }).toEqual([]),
  };
}
