/** Reads what a block holds of ours: from all its receipts, or, where these are too many, from ours alone. */
import type { Hex } from 'viem';
import { findByHashes } from '../../ledger/transactions/transactions.ts';
import type { Block, Log, Receipt } from '../rpc/client.ts';
import { RpcTooLargeError, RpcUnreachableError } from '../rpc/rpc.ts';
import type { FollowDeps } from './types.ts';

/** What a block may hold of ours. */
export interface BlockContents {
  block: Block;
  /** Of our transactions at least. */
  receipts: Receipt[];
  /** Of the escrow and the sale at least. */
  logs: Log[];
  /** All receipts and logs of the block are there, not only ours. */
  isWhole: boolean;
}

/** Requests for all receipts of one block that may stay unanswered before less is asked for: a large answer may never arrive in time. */
const UNANSWERED_MAX = 3;

type ReadDeps = Pick<FollowDeps, 'database' | 'chain' | 'settings' | 'log'>;

/** Reads blocks one after the other; undefined while the node does not have, or does not show, all of a block. */
export function createBlockReader(deps: ReadDeps): (block: Block) => Promise<BlockContents | undefined> {
  const { chain, log } = deps;
  let unanswered = { hash: '', count: 0 };
  return async (block) => {
    try {
      const receipts = await chain.blockReceipts(block.number);
      if (!receipts || !areOf(receipts, block)) return undefined;
      return { block, receipts, logs: receipts.flatMap((receipt) => receipt.logs), isWhole: true };
    } catch (error) {
      if (error instanceof RpcUnreachableError) {
        unanswered = { hash: block.hash, count: unanswered.hash === block.hash ? unanswered.count + 1 : 1 };
        if (unanswered.count < UNANSWERED_MAX) throw error;
      } else if (!(error instanceof RpcTooLargeError)) throw error;
      log.warn({ block: block.number }, 'the receipts of a block are too many; ours are asked for alone');
      return readOurs(deps, block);
    }
  };
}

/** Whether these are all the receipts of this very block: a node may be late with them, or have another block of this number. */
const areOf = (receipts: Receipt[], block: Block) =>
  receipts.length === (block.transactions?.length ?? receipts.length) &&
  receipts.every(({ blockHash = block.hash }) => blockHash === block.hash);

/** The escrow's and the sale's logs by address and block hash, and the receipts of the transactions in the block that the ledger knows. */
async function readOurs(
  { database, chain, settings }: ReadDeps,
  block: Block,
): Promise<BlockContents | undefined> {
  // A transaction is in the ledger before any node has it, so whatever the block holds of ours is found.
  if (!block.transactions) return undefined;
  const ours = await findByHashes(database.db, block.transactions);
  const receipts: Receipt[] = [];
  for (const { hash } of ours) {
    const receipt = await chain.receipt(hash);
    if (receipt?.blockHash !== block.hash) return undefined;
    receipts.push(receipt);
  }
  const read = [settings.escrow, settings.pointsSale].map((address) => address.toLowerCase() as Hex);
  const logs = (await Promise.all(read.map((address) => chain.logsIn(block.hash, address)))).flat();
  const seen = new Set(logs.map(({ logIndex }) => logIndex));
  // A node that indexes logs late shows a receipt before it finds the receipt's logs.
  const isLate = receipts.some((receipt) =>
    receipt.logs.some(
      ({ address, logIndex }) => read.includes(address.toLowerCase() as Hex) && !seen.has(logIndex),
    ),
  );
  return isLate ? undefined : { block, receipts, logs, isWhole: false };
}
