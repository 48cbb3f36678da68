/**
 * Writes what one block shows into the ledger, in one commit: which of our transactions it holds, which rewards
 * the escrow skipped, what brands deposited and withdrew, what others have minted, and what has become final by it. Payouts,
 * mints and redemptions get their positions in the feed, which everything that follows from them is read from.
 */
import { isFed, lastPosition } from '../../ledger/consumers/feed.ts';
import { chargeGas } from '../../ledger/relay/gas-charges.ts';
import { followedHash, lockFollowed, noteBlock } from '../../ledger/transactions/followed-blocks.ts';
import { settleFinal } from '../../ledger/transactions/settle.ts';
import {
  findByHashes,
  markAllIncluded,
  type ShownTransaction,
} from '../../ledger/transactions/transactions.ts';
import type { Alarms } from '../alarms.ts';
import type { Receipt } from '../rpc/client.ts';
import { bookEscrowLogs, bookSaleLogs, forgetMoversResults } from './book-logs.ts';
import type { BlockContents } from './read-block.ts';
import type { BookedTransaction, FollowDeps } from './types.ts';

type ApplyDeps = Pick<FollowDeps, 'database' | 'clock' | 'alarms' | 'crash' | 'settlements' | 'settings'>;

/** What a receipt shows of a transaction of ours, whose bytes are of this kind. */
export function shownIn(
  { transactionHash: hash, succeeded, gasUsed, effectiveGasPriceWei, l1FeeWei }: Receipt,
  { id, kind }: { id: string; kind: 'payload' | 'noop' },
): ShownTransaction {
  return {
    id,
    hash,
    outcome: kind === 'noop' ? 'noop' : succeeded ? 'done' : 'reverted',
    gasUsed: Number(gasUsed),
    gasPriceWei: String(effectiveGasPriceWei),
    l1FeeWei: l1FeeWei === undefined ? null : String(l1FeeWei),
  };
}

/** A relayed call or a redemption may revert for reasons of the user's own: that raises no alarm. */
export function watchReverted(alarms: Alarms, { id, purpose, outcome, hash }: BookedTransaction): void {
  if (outcome === 'reverted' && purpose !== 'relay' && purpose !== 'redeem')
    alarms.raise('transaction_reverted', id, { hash });
}

/** Undefined when the block is not the successor of the newest one in the ledger: another process has read on, or the chain changed. */
export async function applyBlock(
  deps: ApplyDeps,
  contents: BlockContents,
): Promise<BookedTransaction[] | undefined> {
  const { database, clock, settings, alarms, crash } = deps;
  const { block, receipts, logs } = contents;
  const booked = await database.atomically(async (tx) => {
    const parent = await lockFollowed(tx, block.number - 1);
    if (parent === undefined ? block.number !== settings.firstBlock : parent.hash !== block.parentHash)
      return undefined;
    // Another process may have read on while this one held an answer that the chain has since taken back.
    if (((await followedHash(tx, block.number)) ?? block.hash) !== block.hash) return undefined;
    const found = await findByHashes(
      tx,
      receipts.map(({ transactionHash }) => transactionHash),
    );
    const failures = await bookEscrowLogs(deps, tx, { block, logs });
    const transactions: BookedTransaction[] = [];
    const shown: ShownTransaction[] = [];
    let feedPosition = parent ? parent.feedPosition : await lastPosition(tx);
    const foundBy = new Map(found.map((one) => [one.hash, one]));
    // In the order of the block, which is that of the feed, whichever process books it.
    for (const receipt of receipts) {
      const one = foundBy.get(receipt.transactionHash);
      if (!one) continue;
      const { id, purpose } = one.transaction;
      const seen = shownIn(receipt, { id, kind: one.kind });
      const { hash, outcome } = seen;
      shown.push({ ...seen, feedPosition: outcome === 'done' && isFed(purpose) ? ++feedPosition : null });
      transactions.push({ id, hash, purpose, outcome, failures });
    }
    await markAllIncluded(tx, { blockNumber: block.number, blockHash: block.hash }, shown);
    const ours = new Set(shown.map(({ hash }) => hash));
    await bookSaleLogs(tx, { block, logs, settings, ours });
    await chargeGas(
      tx,
      transactions.filter(({ purpose }) => purpose === 'relay').map(({ id }) => id),
    );
    await settleFinal(tx, {
      blockNumber: block.number - settings.finalityBlocks,
      nowMs: clock.now(),
      settlements: deps.settlements,
    });
    await forgetMoversResults(tx, { token: settings.token, contents });
    await noteBlock(
      tx,
      { number: block.number, hash: block.hash, feedPosition },
      settings.finalityBlocks + 1,
    );
    crash('follow.before-commit');
    return transactions;
  });
  for (const transaction of booked ?? []) watchReverted(alarms, transaction);
  return booked;
}
