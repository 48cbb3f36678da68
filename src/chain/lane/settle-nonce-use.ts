/** Draws the consequences of what has used a nonce of ours: an offer of ours is booked, what another one kept from happening is done again. */

import { lockIfRead } from '../../ledger/transactions/followed-blocks.ts';
import { adoptAttempt } from '../../ledger/transactions/found-attempts.ts';
import { settleLost } from '../../ledger/transactions/settle.ts';
import { transactionsById, type UnsettledTransaction } from '../../ledger/transactions/transactions.ts';
import { isRpcError } from '../rpc/rpc.ts';
import { fence } from './broadcast.ts';
import type { NonceUse } from './find-nonce-use.ts';
import { judgeNonceUse, type OwnOffer } from './judge-nonce-use.ts';
import type { LaneDeps } from './types.ts';

/** booked: it was ours · again: it was not, and is final, so the work waits again · other: not ours, and not final · unknown: no node tells enough · open: another look decides. */
export type Outcome = 'booked' | 'again' | 'other' | 'unknown' | 'open';

/** One of our transactions, and what has used its nonce. */
interface Used {
  one: UnsettledTransaction;
  use: NonceUse;
  /** An earlier look has found that it is not ours. */
  isOther: boolean;
  epoch: number;
  /** The newest block that the ledger has read. */
  newest: number;
}

export async function settleNonceUse(deps: LaneDeps, used: Used): Promise<Outcome> {
  const { one, use, isOther } = used;
  if (isOther) return giveUp(deps, used);
  const own = await judgeNonceUse(deps.database.db, { transactionId: one.id, shown: use.shown });
  if (own === 'unreadable') return 'unknown';
  return own === 'other' ? giveUp(deps, used) : book(deps, used, own);
}

async function giveUp(deps: LaneDeps, { one: { id, nonce }, use, epoch, newest }: Used): Promise<Outcome> {
  const { chain, database, log, settings } = deps;
  const { block, shown } = use;
  if (settings.lostAfterBlocks === undefined || block.number > newest - settings.lostAfterBlocks)
    return 'other';
  if ((await chain.block(block.number).catch(noAnswer))?.hash !== block.hash) return 'unknown';
  const lost = await database.atomically(async (tx) => {
    await fence(deps, tx, epoch);
    if (!(await lockIfRead(tx, block))) return false;
    // A block that was read meanwhile may have shown it to be ours after all.
    return settleLost(tx, { transactionId: id, nowMs: deps.clock.now(), settlements: deps.settlements });
  });
  if (!lost) return 'open';
  const about = { lane: deps.signer.address, nonce, by: shown.hash };
  log.warn(about, 'a foreign transaction used our nonce; its work is done again');
  return 'again';
}

async function book(
  deps: LaneDeps,
  { one: { id, nonce }, use, epoch }: Used,
  { bytes, kind, isOutbid }: OwnOffer,
): Promise<Outcome> {
  const { chain, database, log } = deps;
  const { block, shown } = use;
  const receipt = await chain.receipt(shown.hash).catch(noAnswer);
  if (receipt?.blockHash !== block.hash) return 'unknown';
  const booked = await database.atomically(async (tx) => {
    await fence(deps, tx, epoch);
    if (!(await lockIfRead(tx, block))) return undefined;
    const [transaction] = await transactionsById(tx, [id]);
    if (transaction?.status !== 'stored' && transaction?.status !== 'sent') return undefined;
    const of = { transactionId: id, kind, createdAt: deps.clock.now(), isOutbid };
    if (bytes) await adoptAttempt(tx, bytes, of);
    return deps.bookLate(tx, { transaction, kind, block, receipt });
  });
  if (!booked) return 'open';
  booked();
  const about = { lane: deps.signer.address, nonce, hash: shown.hash };
  log.warn(about, 'an offer of ours that was lost is in a block; it is booked');
  return 'booked';
}

function noAnswer(error: unknown): undefined {
  if (isRpcError(error)) return undefined;
  throw error;
}
