/** What a lane has under way: the transactions that no block is known to hold. */

import { type FollowedBlock, recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import { settleLost } from '../../ledger/transactions/settle.ts';
import { type UnsettledTransaction, unsettledTransactions } from '../../ledger/transactions/transactions.ts';
import { fence, loaded } from './broadcast.ts';
import type { InFlight, LaneDeps } from './types.ts';

export function createInFlight(deps: LaneDeps) {
  const { database, settings, realClock } = deps;
  const watchLostNonces = createLostNonceWatch(deps);
  let inFlight: InFlight[] | undefined;
  let loadedAtMs = 0;
  let forgotten = 0;

  const known = () => (realClock.now() - loadedAtMs < settings.resendAfterMs ? inFlight : undefined);

  /** What the ledger says is in no block, with what is known here about each. */
  async function load(now: { chainNonce: number; epoch: number }): Promise<InFlight[]> {
    if (!inFlight) deps.crash('recover.started');
    loadedAtMs = realClock.now();
    const unsettled = await unsettledTransactions(database.db, deps.signer.address);
    await watchLostNonces(unsettled, now);
    const before = new Map(inFlight?.map((one) => [one.hash, one]));
    return unsettled.map((one) => before.get(one.hash) ?? loaded(one));
  }

  return {
    /** It is read from the ledger before anything else is done. */
    forget(): void {
      forgotten += 1;
      inFlight = undefined;
    },
    timesForgotten: () => forgotten,
    /**
     * Undefined: it has to be read. That is so from time to time as well: another process may have noticed that blocks
     * were taken back, or another sender may use the account.
     */
    known,
    /**
     * All that the chain, at this nonce, holds in no block; what is pushed onto it is kept. Undefined when it was forgotten
     * since `asOf`: where blocks were taken back, neither the chain's nonce nor the rows need be what they were.
     */
    async at(now: { chainNonce: number; epoch: number; asOf: number }): Promise<InFlight[] | undefined> {
      const all = known() ?? (await load(now));
      if (now.asOf !== forgotten) return undefined;
      // A nonce below the chain's is in a block; the follower finds out which block and which hash.
      inFlight = all.filter(({ nonce }) => nonce >= now.chainNonce);
      return inFlight;
    },
  };
}

// Nonces of ours that a foreign transaction has used in a block. Our transactions can no longer happen under them, so
// once that block is final, their work may be done again.

/**
 * Looks at the transactions of a lane that no block is known to hold. When the chain has passed such a nonce, its
 * block is usually just not read yet. When the ledger has read the block that uses the nonce, an alarm is raised,
 * and once that block is final, the transaction's work is done again.
 */
function createLostNonceWatch(deps: LaneDeps) {
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
