/** Books the blocks that the ledger lacks, as a service would. Brands are told again of nothing that was recovered. */
import { createAlarms } from '../../chain/alarms.ts';
import { createFollower } from '../../chain/follow/follow.ts';
import type { Announce } from '../../chain/follow/types.ts';
import { announceRewards } from '../../chain/work/announce-rewards.ts';
import { paidCounts } from '../../chain/work/count-paid-rewards.ts';
import { announceRedemptions } from '../../chain/work/redemptions/announce-redemptions.ts';
import { settlements } from '../../chain/work/settlements.ts';
import { unlockAchievements } from '../../chain/work/unlock-achievements.ts';
import { recoveredAmong } from '../../ledger/recovery/recoveries.ts';
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
    paidCounts,
    announce: ofOthers(deps),
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

/** What brands are told of transactions that the ledger knew all along. Of others, the lost service has told them, or may have. */
function ofOthers({ random, database }: RecoveryDeps): Announce {
  const of = { random, businessTime: () => database.now };
  const each = [announceRewards(of), unlockAchievements(of), announceRedemptions(of)];
  return async (tx, { transactions, nowMs }) => {
    const recovered = await recoveredAmong(
      tx,
      'transaction',
      transactions.map(({ id }) => id),
    );
    const known = transactions.filter(({ id }) => !recovered.has(id));
    let due = 0;
    for (const announce of each) due += await announce(tx, { transactions: known, nowMs });
    return due;
  };
}
