/**
 * Writes what one block shows into the ledger, in one commit: which of our transactions it holds, which rewards
 * the escrow skipped, what brands deposited and withdrew, what others have minted, what brands are told of it, what has become final by it, and, on
 * the leaderboards, a first piece of what it paid.
 */
import { chargeGas } from '../../ledger/relay/gas-charges.ts';
import type { TransactionOutcome } from '../../ledger/schema/transactions.ts';
import { followedHash, lockFollowedHash, noteBlock } from '../../ledger/transactions/followed-blocks.ts';
import { settleFinal } from '../../ledger/transactions/settle.ts';
import {
  findByHashes,
  markAllIncluded,
  type ShownTransaction,
} from '../../ledger/transactions/transactions.ts';
import { bookEscrowLogs } from './book-escrow-logs.ts';
import { bookSaleLogs } from './book-sale-logs.ts';
import { forgetMoversResults } from './forget-movers-results.ts';
import type { BlockContents } from './read-block.ts';
import type { BookedBytes, FollowDeps } from './types.ts';

type BookDeps = Pick<
  FollowDeps,
  | 'database'
  | 'clock'
  | 'alarms'
  | 'crash'
  | 'settlements'
  | 'settings'
  | 'announce'
  | 'onAnnounced'
  | 'paidCounts'
>;

/** Undefined when the block is not the successor of the newest one in the ledger: another process has read on, or the chain changed. */
export async function bookBlock(deps: BookDeps, contents: BlockContents): Promise<BookedBytes[] | undefined> {
  const { database, clock, settings, alarms, crash } = deps;
  const { block, receipts, logs } = contents;
  const booked = await database.atomically(async (tx) => {
    const parent = await lockFollowedHash(tx, block.number - 1);
    if (parent === undefined ? block.number !== settings.firstBlock : parent !== block.parentHash)
      return undefined;
    // Another process may have read on while this one held an answer that the chain has since taken back.
    if (((await followedHash(tx, block.number)) ?? block.hash) !== block.hash) return undefined;
    const found = await findByHashes(
      tx,
      receipts.map(({ transactionHash }) => transactionHash),
    );
    const failures = await bookEscrowLogs(deps, tx, { block, logs });
    const transactions: BookedBytes[] = [];
    const shown: ShownTransaction[] = [];
    const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
    for (const { hash, kind, raw, transaction } of found) {
      const receipt = receiptOf.get(hash);
      if (!receipt) continue;
      const { succeeded, gasUsed, effectiveGasPriceWei, l1FeeWei } = receipt;
      const outcome: TransactionOutcome = kind === 'noop' ? 'noop' : succeeded ? 'done' : 'reverted';
      const { id, purpose } = transaction;
      shown.push({
        ...{ id, hash, outcome, gasUsed: Number(gasUsed), gasPriceWei: String(effectiveGasPriceWei) },
        l1FeeWei: l1FeeWei === undefined ? null : String(l1FeeWei),
      });
      transactions.push({ id, hash, purpose, outcome, failures, raw });
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
    const [first] = deps.paidCounts?.pieces(transactions) ?? [];
    if (first) await deps.paidCounts?.count(tx, first);
    await forgetMoversResults(tx, { token: settings.token, contents });
    const announced = (await deps.announce?.(tx, { transactions, nowMs: clock.now() })) ?? 0;
    await noteBlock(tx, { number: block.number, hash: block.hash }, settings.finalityBlocks + 1);
    crash('follow.before-commit');
    return { transactions, announced };
  });
  if (booked && booked.announced > 0) deps.onAnnounced?.();
  for (const { id, purpose, outcome, hash } of booked?.transactions ?? []) {
    // A relayed call or a redemption may revert for reasons of the user's own: that raises no alarm.
    if (outcome === 'reverted' && purpose !== 'relay' && purpose !== 'redeem')
      alarms.raise('transaction_reverted', id, { hash });
  }
  return booked?.transactions;
}
