/** Books a transaction of ours in a block that was read before the ledger knew the transaction, as that reading would have. */
import { isFed } from '../../ledger/consumers/feed.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { forgetMintedBy } from '../../ledger/payments/mints.ts';
import { chargeGas } from '../../ledger/relay/gas-charges.ts';
import { forgetFailures } from '../../ledger/rewards/rewards.ts';
import { lockNewestFollowed, raiseFeed } from '../../ledger/transactions/followed-blocks.ts';
import { markAllIncluded } from '../../ledger/transactions/transactions.ts';
import type { LaneDeps, LateFound } from '../lane/types.ts';
import { shownIn, watchReverted } from './apply-block.ts';
import { bookEscrowLogs } from './book-logs.ts';
import type { BookedTransaction, FollowDeps } from './types.ts';

type LateDeps = Pick<FollowDeps, 'clock' | 'alarms' | 'settings' | 'onIncluded' | 'onFed'>;

/** What has become final meanwhile is settled with the next block. */
export function createLateBooking(deps: LateDeps): LaneDeps['bookLate'] {
  return async (tx, found) => {
    const booked = await book(deps, tx, found);
    return () => {
      watchReverted(deps.alarms, booked);
      deps.onIncluded(booked);
      deps.onFed?.();
    };
  };
}

async function book(
  deps: LateDeps,
  tx: Queries,
  { transaction, kind, block, receipt }: LateFound,
): Promise<BookedTransaction> {
  const { id, purpose } = transaction;
  // What another block had shown of it is gone with that block.
  await forgetFailures(tx, [id]);
  // Movements of brands were booked with the block: they change nothing now.
  const failures = await bookEscrowLogs(deps, tx, { block, logs: receipt.logs });
  const seen = shownIn(receipt, { id, kind });
  const { hash, outcome } = seen;
  const feedPosition = outcome === 'done' && isFed(purpose) ? await nextPosition(tx) : null;
  await markAllIncluded(tx, { blockNumber: block.number, blockHash: block.hash }, [
    { ...seen, feedPosition },
  ]);
  await forgetMintedBy(tx, hash);
  if (purpose === 'relay') await chargeGas(tx, [id]);
  return { id, hash, purpose, outcome, failures };
}

/** The feed goes on behind the newest block, whose row is locked: the next one begins there. */
async function nextPosition(tx: Queries): Promise<number | null> {
  const newest = await lockNewestFollowed(tx);
  if (!newest) return null;
  const feedPosition = newest.feedPosition + 1;
  await raiseFeed(tx, { number: newest.number, feedPosition });
  return feedPosition;
}
