/** Ways to break a part: statements that are changed or run again, and bytes that are sent too soon. */
import type { Signer } from '../../../src/chain/lane/types.ts';
import type { Database, Queries } from '../../../src/ledger/database/database.ts';
import type { RunStatement } from '../../../src/ledger/database/prepared-query.ts';
import { intercept } from '../simulation/sim-ledger.ts';
import type { World } from '../simulation/world.ts';

export const replacing = (what: string | RegExp, by: string) => (text: string) => text.replace(what, by);
export const only = (about: RegExp, change: (text: string) => string) => (text: string) =>
  about.test(text) ? change(text) : text;

export const intercepting =
  (by: (run: RunStatement, ...statement: Parameters<RunStatement>) => ReturnType<RunStatement>) =>
  (queries: Queries): Queries =>
    intercept(queries, (run) => (text, params, method) => by(run, text, params, method));

/** Statements of commits, changed on their way. */
export const changingStatements = (database: Database, change: (text: string) => string): Database => {
  const changed = intercepting((run, text, params, method) => run(change(text), params, method));
  return { ...database, atomically: (work) => database.atomically((tx) => work(changed(tx))) };
};

/** Runs every commit again that failed, whatever became of it. */
export const rerun = (database: Database): Database => ({
  ...database,
  async atomically(work) {
    for (let tries = 1; ; tries++) {
      try {
        return await database.atomically(work);
      } catch (error) {
        if (tries === 3 || !(error instanceof Error && error.name === 'DatabaseFault')) throw error;
      }
    }
  },
});

/** Hands signed bytes to the node as soon as they exist. */
export const sendAtOnce = async (world: World, raw: string) => {
  await world.node.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
};

export const sendingAtOnce = (signer: Signer, world: World): Signer => ({
  ...signer,
  async signTransaction(one) {
    const raw = await signer.signTransaction(one);
    await sendAtOnce(world, raw);
    return raw;
  },
});

export const NEXT_NONCE = /^select "nonce" from "transactions" where "transactions"\."lane" = \? order by/;
