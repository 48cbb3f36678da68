/** Books the blocks that the ledger lacks, as a service would. What follows from them, consumers read from the feed; of what was recovered they tell brands nothing again. */
import { createAlarms } from '../../chain/alarms.ts';
import { createFollower } from '../../chain/follow/follow.ts';
import { settlements } from '../../chain/work/settlements.ts';
import { systemClock } from '../../lib/clock.ts';
import { neverCrash } from '../../lib/crash-points.ts';
import { silentLog } from '../../lib/log.ts';
import type { RecoveryDeps } from './types.ts';

/** Reads up to the newest block that has its confirmations. What a service books meanwhile is the same. */
export async function followRecovered(deps: RecoveryDeps, onBlock: () => Promise<void>): Promise<void> {
  const { database, chain, facts, settings, progress } = deps;
  const clock = systemClock();
  let renewal: Promise<void> = Promise.resolve();
  const follower = createFollower({
    database,
    chain,
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
