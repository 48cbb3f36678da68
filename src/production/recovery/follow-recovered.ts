/** Records the blocks that the ledger lacks, as a service would. What follows from them, consumers read from the feed; of what was recovered they tell brands nothing again. */
import { createAlarms } from '../../chain/alarms.ts';
import { createFollower } from '../../chain/indexer/indexer.ts';
import { settlements } from '../../chain/work/settlements.ts';
import { neverCrash } from '../../lib/crash-points.ts';
import { silentLog } from '../../lib/log.ts';
import type { RecoveryDeps } from './types.ts';

/**
 * Reads up to the newest block that was searched and has its confirmations. A later one may hold what no node showed: that
 * is found again only in a block that nobody has read yet.
 */
export async function followRecovered(
  deps: RecoveryDeps,
  { headBlock, onBlock }: { headBlock: number; onBlock: () => Promise<void> },
): Promise<void> {
  const { database, chain, clock, facts, settings, progress } = deps;
  let renewal: Promise<void> = Promise.resolve();
  const follower = createFollower({
    database,
    chain: { ...chain, block: (which) => chain.block(which === 'latest' ? headBlock : which) },
    clock,
    log: silentLog,
    alarms: createAlarms({ now: clock.now, log: silentLog }),
    crash: neverCrash,
    settlements,
    settings: {
      ...settings,
      escrow: facts.contracts.escrow,
      token: facts.contracts.token,
      pointsSale: facts.contracts.pointsSale,
      firstBlock: facts.deploymentBlock,
    },
    onIncluded: () => {},
    onReorganized: () => {},
    onReading: ({ block, of }) => {
      progress('follow', block, of);
      renewal = renewal.then(onBlock);
    },
  });
  await follower.catchUp();
  await renewal;
}
