/**
 * Nonces of ours that a foreign transaction has used in a block. Our transactions can no longer happen under them,
 * so once that block is final, their work may be done again.
 */
import { type FollowedBlock, recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import { settleLost } from '../../ledger/transactions/settle.ts';
import type { UnsettledTransaction } from '../../ledger/transactions/transactions.ts';
import { fence } from './broadcast.ts';
import type { LaneDeps } from './types.ts';

/**
 * Looks at the transactions of a lane that no block is known to hold. When the chain has passed such a nonce, its
 * block is usually just not read yet. When the ledger has read the block that uses the nonce, an alarm is raised,
 * and once that block is final, the transaction's work is done again.
 */
export function createLostNonceWatch(deps: LaneDeps) {
  const { database, alarms, settings, log } = deps;
  const { lostAfterBlocks } = settings;
  const lane = deps.signer.address;

  /** The lane's nonce in that very block; undefined when the node that answers does not know the block. */
  const nonceIn = (block: FollowedBlock | undefined) =>
    block ? deps.chain.nonce(lane, block.hash).catch(() => undefined) : undefined;

  return async function watch(
    unsettled: UnsettledTransaction[],
    now: { chainNonce: number; epoch: number },
  ): Promise<void> {
    const passed = unsettled.filter(({ nonce }) => nonce < now.chainNonce);
    if (passed.length === 0) return alarms.clear('nonce_lost', lane);
    const read = await recentBlocks(database.db, (lostAfterBlocks ?? 0) + 1);
    const newest = read[0];
    const usedByNow = (await nonceIn(newest)) ?? 0;
    const missing = passed.filter(({ nonce }) => nonce < usedByNow);
    const [first] = missing;
    if (!first) return;
    alarms.raise('nonce_lost', lane, { nonce: first.nonce, count: missing.length });
    if (lostAfterBlocks === undefined || !newest) return;
    const usedForGood =
      (await nonceIn(read.find(({ number }) => number === newest.number - lostAfterBlocks))) ?? 0;
    for (const { id, nonce } of missing) {
      if (nonce >= usedForGood) continue;
      const lost = await database.atomically(async (tx) => {
        await fence(deps, tx, now.epoch);
        // A block that was read meanwhile may have shown it to be ours after all.
        return settleLost(tx, { transactionId: id, nowMs: deps.clock.now(), settlements: deps.settlements });
      });
      if (lost) log.warn({ lane, nonce }, 'a foreign transaction used our nonce; its work is done again');
    }
  };
}
