/** How far each sending account has come, by the ledger and by the chain. */
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { acceptedNoncesOf } from '../../ledger/transactions/accepted-nonces.ts';
import { everyLane } from '../../ledger/transactions/backlog.ts';
import { nextNonce, unsettledTransactions } from '../../ledger/transactions/transactions.ts';

export interface LaneDeps {
  database: Database;
  chain: Pick<ChainClient, 'block' | 'nonce'>;
  /** Depth from which a block counts as final. */
  finalityBlocks: number;
}

export interface LaneState {
  lane: `0x${string}`;
  purpose: LanePurpose;
  /** The next nonce: by the ledger, in the newest block, and in the newest final one. Null: the ledger has none yet. */
  nonce: { ledger: number | null; chain: number; final: number };
  /** Transactions of the ledger that no block is known to hold. */
  open: number;
  /** Others have used nonces that the ledger does not know: the lane stands still. */
  foreign: boolean;
  accepted: { fromNonce: number; nextNonce: number; by: string; reason: string; at: string }[];
}

/** Rejects when the node gives no usable answer. */
export async function showLanes({ database, chain, finalityBlocks }: LaneDeps): Promise<LaneState[]> {
  const { db } = database;
  const head = await chain.block('latest');
  const final = head && (await chain.block(Math.max(0, head.number - finalityBlocks)));
  if (!head || !final) throw new Error('the node has no block');
  const states: LaneState[] = [];
  for (const { address: lane, purpose } of await everyLane(db)) {
    const ledger = (await nextNonce(db, lane)) ?? null;
    const nonce = {
      ledger,
      chain: await chain.nonce(lane, head.hash),
      final: await chain.nonce(lane, final.hash),
    };
    const accepted = (await acceptedNoncesOf(db, lane)).map(
      ({ fromNonce, nextNonce: next, acceptedBy, reason, createdAt }) => ({
        fromNonce,
        nextNonce: next,
        by: acceptedBy,
        reason,
        at: new Date(createdAt).toISOString(),
      }),
    );
    const open = (await unsettledTransactions(db, lane)).length;
    states.push({ lane, purpose, nonce, open, foreign: ledger !== null && nonce.chain > ledger, accepted });
  }
  return states;
}
