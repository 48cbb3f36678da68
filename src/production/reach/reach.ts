/**
 * How what settings name outside this program is asked: THE table, a row for each word in the column `reach` of the
 * settings. `start --check` refuses what does not answer as it should; a start warns of it, since a replica that runs
 * must not stay down for something that is away for a while.
 */
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { PaymentProcessor } from '../../payments/processor.ts';
import type { StartConfig } from '../start-config.ts';
import type { Problem } from '../start-errors.ts';
import type { Reach } from '../start-setting.ts';
import { askIssuer, askProcessor } from './ask-outside.ts';
import { checkGasMoney, checkPrice } from './gas-money.ts';
import { tryListeners } from './try-listeners.ts';

export interface ReachDeps {
  database: Database;
  chain: Pick<ChainClient, 'block' | 'balanceWei'>;
  processor: PaymentProcessor | undefined;
  clock: Pick<Clock, 'now'>;
  addressOf: (key: `0x${string}`) => `0x${string}`;
}

interface Seen {
  problems: Problem[];
  warnings: Problem[];
}

interface ReachCheck {
  /** What has to be right first: the settings, so that no key goes astray; the chain with our contracts; a ledger that can be read. */
  needs: readonly ('settings' | 'chain' | 'ledger')[];
  /** Asked by a check alone, since a start finds it by itself; by a start too; or by a start once it is ready, which waits for no stranger. */
  by: 'check' | 'start' | 'ready';
  ask: (deps: ReachDeps, config: StartConfig) => Promise<Seen>;
}

const alone = (problems: Problem[]): Seen => ({ problems, warnings: [] });

/** Database and nodes are not in it: the checks of ledger and chain ask them, and a start cannot go on without. */
export const reachChecks: Record<Exclude<Reach, 'database' | 'nodes'>, ReachCheck> = {
  listeners: { needs: [], by: 'check', ask: (_deps, config) => tryListeners(config) },
  issuer: { needs: [], by: 'ready', ask: async (_deps, config) => alone(await askIssuer(config)) },
  processor: {
    needs: ['settings'],
    by: 'ready',
    ask: async ({ processor, clock }) => alone(await askProcessor(processor, clock.now())),
  },
  prices: {
    needs: ['chain'],
    by: 'start',
    ask: async ({ chain }, config) => alone(await checkPrice(chain, config)),
  },
  accounts: {
    needs: ['chain', 'ledger'],
    by: 'start',
    ask({ chain, database, addressOf }, config) {
      const accounts = Object.entries(config.keys).map(([name, key]) => [name, addressOf(key)]);
      return checkGasMoney({ chain, db: database.db }, Object.fromEntries(accounts), config);
    },
  },
};

export type ReachMode = ReachCheck['by'];

/** Asks all that can be asked in this mode; a check asks everything. */
export async function askReach(
  deps: ReachDeps,
  config: StartConfig,
  right: Record<'settings' | 'chain' | 'ledger', boolean>,
  mode: ReachMode,
): Promise<Seen> {
  const checks = Object.values(reachChecks).filter(
    ({ needs, by }) => (mode === 'check' || mode === by) && needs.every((one) => right[one]),
  );
  const seen = await Promise.all(checks.map(({ ask }) => ask(deps, config)));
  return {
    problems: seen.flatMap(({ problems }) => problems),
    warnings: seen.flatMap(({ warnings }) => warnings),
  };
}
