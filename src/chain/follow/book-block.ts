/**
 * Writes what one block shows into the ledger, in one commit: which of our transactions it holds, which rewards
 * the escrow skipped, what brands deposited and withdrew, and what has become final by it.
 */
import { decodeEventLog, type Hex, parseTransaction } from 'viem';
import type { Queries } from '../../ledger/database/database.ts';
import { bookMovement } from '../../ledger/rewards/funds.ts';
import { failRewards, findBySequences } from '../../ledger/rewards/rewards.ts';
import type { LanePurpose, TransactionOutcome } from '../../ledger/schema/transactions.ts';
import { followedHash, lockFollowedHash, noteBlock } from '../../ledger/transactions/followed-blocks.ts';
import { settleFinal } from '../../ledger/transactions/settle.ts';
import { findByHashes, markIncluded } from '../../ledger/transactions/transactions.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { businessEscrowAbi } from '../contracts/abis.ts';
import { decodePayoutBatch, skipReasons } from '../contracts/payout-batch.ts';
import type { Block, Log as ChainLog, Receipt } from '../rpc/client.ts';
import type { FollowDeps } from './follow.ts';

/** A transaction of ours that a block holds. */
export interface BookedTransaction {
  id: string;
  hash: Hex;
  purpose: LanePurpose;
  outcome: TransactionOutcome;
  /** Rewards that it did not pay, by id, with the reason. */
  failures: Map<string, string>;
}

type BookDeps = Pick<FollowDeps, 'database' | 'clock' | 'log' | 'alarms' | 'crash' | 'settings'>;

/** Undefined when the block is not the successor of the newest one in the ledger: somebody read on, or the chain changed. */
export async function bookBlock(
  deps: BookDeps,
  { block, receipts }: { block: Block; receipts: Receipt[] },
): Promise<BookedTransaction[] | undefined> {
  const { database, clock, settings, alarms, crash } = deps;
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
    const failures = await bookEscrowLogs(deps, tx, { block, receipts });
    const transactions: BookedTransaction[] = [];
    for (const { hash, kind, transaction } of found) {
      const receipt = receipts.find(({ transactionHash }) => transactionHash === hash);
      if (!receipt) continue;
      const { succeeded, gasUsed, effectiveGasPriceWei } = receipt;
      const outcome: TransactionOutcome = kind === 'noop' ? 'noop' : succeeded ? 'done' : 'reverted';
      await markIncluded(tx, {
        id: transaction.id,
        hash,
        blockNumber: block.number,
        blockHash: block.hash,
        outcome,
        gasUsed: Number(gasUsed),
        gasPriceWei: String(effectiveGasPriceWei),
      });
      const { id, purpose } = transaction;
      transactions.push({ id, hash, purpose, outcome, failures });
    }
    await settleFinal(tx, {
      blockNumber: block.number - settings.finalityBlocks,
      nowMs: clock.now(),
      sequencesOf: sequencesInPayout,
    });
    await noteBlock(tx, { number: block.number, hash: block.hash }, settings.finalityBlocks + 1);
    crash('follow.before-commit');
    return transactions;
  });
  for (const { id, purpose, outcome, hash } of booked ?? []) {
    // What users ask for may fail without anything being wrong here.
    if (outcome === 'reverted' && purpose !== 'relay') alarms.raise('transaction_reverted', id, { hash });
  }
  return booked;
}

/** The sequences of the rewards that signed bytes of the payout lane pay. */
export function sequencesInPayout(raw: Hex): number[] {
  const { data } = parseTransaction(raw);
  return decodePayoutBatch(data ?? '0x').map(({ sequence }) => Number(sequence));
}

/** Returns the rewards that were skipped, by id. */
async function bookEscrowLogs(
  { clock, settings, alarms }: BookDeps,
  tx: Queries,
  { block, receipts }: { block: Block; receipts: Receipt[] },
): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  const escrow = settings.escrow.toLowerCase();
  const logs = receipts
    .flatMap((receipt) => receipt.logs)
    .filter((one) => one.address.toLowerCase() === escrow);
  for (const one of logs) {
    const event = decodeEscrowLog(one);
    if (event?.eventName === 'Deposited' || event?.eventName === 'Withdrawn') {
      await bookMovement(tx, {
        id: `${one.transactionHash}:${one.logIndex}`,
        kind: event.eventName === 'Deposited' ? 'deposit' : 'withdrawal',
        brandId: event.args.brand.toLowerCase() as BrandId,
        amount: Number(event.args.amount),
        transactionHash: one.transactionHash,
        logIndex: one.logIndex,
        blockNumber: block.number,
        createdAt: clock.now(),
      });
    } else if (event?.eventName === 'RewardSkipped') {
      const reason = skipReasons[event.args.reason as keyof typeof skipReasons] ?? 'skipped';
      const sequences = [Number(event.args.sequence)];
      if (reason === 'already_paid') {
        // No failure: an earlier transaction paid this very reward. Unless there was none: then whoever else
        // uses this escrow has paid something under our number, which only a person can put right.
        const [reward] = await findBySequences(tx, sequences);
        if (reward?.failedTries === 0)
          alarms.raise('reward_skipped', String(event.args.sequence), { reason });
        continue;
      }
      alarms.raise('reward_skipped', String(event.args.sequence), { reason });
      await failRewards(tx, { sequences, failure: reason });
      for (const { id } of await findBySequences(tx, sequences)) failures.set(id, reason);
    }
  }
  return failures;
}

function decodeEscrowLog({ topics, data }: ChainLog) {
  try {
    return decodeEventLog({ abi: businessEscrowAbi, topics: topics as [Hex, ...Hex[]], data });
  } catch {
    return undefined;
  }
}
