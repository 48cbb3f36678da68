/**
 * Nonces of ours that a block has used with a transaction that the ledger does not know. Where that one does what ours was
 * to do, it is an offer of ours whose commit was lost, and is booked. Where it is another one, ours can no longer happen:
 * once the block is final, its work is done again.
 */

import { type FollowedBlock, lockIfRead, recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import { adoptAttempt } from '../../ledger/transactions/found-attempts.ts';
import { settleLost } from '../../ledger/transactions/settle.ts';
import { transactionsById, type UnsettledTransaction } from '../../ledger/transactions/transactions.ts';
import { isRpcError } from '../rpc/rpc.ts';
import { fence } from './broadcast.ts';
import { findNonceUse, type NonceUse } from './find-nonce-use.ts';
import { judgeNonceUse, type OwnOffer } from './judge-nonce-use.ts';
import type { LaneDeps } from './types.ts';

/** Nonces whose use is searched in one look: each takes some dozen questions, and a lane looks again within seconds. */
const SEARCHES_MAX = 4;

interface Look {
  epoch: number;
  /** The newest block that the ledger has read. */
  newest: FollowedBlock;
}

/** What became of a nonce in one look. over: its transaction is settled · unknown: no node tells what has used it. */
type Outcome = 'over' | 'open' | 'unknown';

/**
 * Looks at the transactions of a lane that no block is known to hold. When the chain has passed such a nonce, its
 * block is usually just not read yet. When the ledger has read the block that uses the nonce, it is found out what used it.
 * While no node tells that, nothing is decided; an alarm says so.
 */
export function createLostNonceWatch(deps: LaneDeps) {
  const { database, chain, alarms } = deps;
  const lane = deps.signer.address;
  /** What others have used, by the id of our transaction, while that is not settled. */
  const others = new Map<string, NonceUse>();
  /** Those that had their turn to be searched. */
  const searched = new Set<string>();

  const find = (nonce: number, usedBy: number) => findNonceUse(chain, { lane, nonce, usedBy });
  const stands = async ({ number, hash }: NonceUse['block']) =>
    (await chain.block(number).catch(noAnswer))?.hash === hash;

  return async function watch(
    unsettled: UnsettledTransaction[],
    now: { chainNonce: number; epoch: number },
  ): Promise<void> {
    const passed = unsettled.filter(({ nonce }) => nonce < now.chainNonce);
    if (passed.length === 0) {
      others.clear();
      return alarms.clear('nonce_lost', lane);
    }
    const [newest] = await recentBlocks(database.db, 1);
    // A node that does not know the block has nothing to say.
    const usedByNow = newest ? await chain.nonce(lane, newest.hash).catch(() => 0) : 0;
    const missing = passed.filter(({ nonce }) => nonce < usedByNow);
    if (!newest || missing.length === 0) return;
    const turn = new Set(nextSearched(missing));
    const outcomes: Outcome[] = [];
    for (const one of missing) {
      const use = others.get(one.id) ?? (turn.has(one.id) ? await find(one.nonce, newest.number) : undefined);
      outcomes.push(use ? await decide(one, use, { epoch: now.epoch, newest }) : 'unknown');
    }
    const first = missing.find((_, place) => outcomes[place] !== 'over');
    if (!first) return alarms.clear('nonce_lost', lane);
    const count = outcomes.filter((outcome) => outcome !== 'over').length;
    const unknown = outcomes.filter((outcome) => outcome === 'unknown').length;
    alarms.raise('nonce_lost', lane, { nonce: first.nonce, count, unknown });
  };

  /** Each has its turn, so that those that no node tells of do not keep the others from it. */
  function nextSearched(missing: UnsettledTransaction[]): string[] {
    const ids = missing.flatMap(({ id }) => (others.has(id) ? [] : id));
    if (ids.every((id) => searched.has(id))) searched.clear();
    const next = ids.filter((id) => !searched.has(id)).slice(0, SEARCHES_MAX);
    for (const id of next) searched.add(id);
    return next;
  }

  async function decide(one: UnsettledTransaction, use: NonceUse, now: Look): Promise<Outcome> {
    const { shown } = use;
    const own = others.has(one.id)
      ? 'other'
      : await judgeNonceUse(database.db, { transactionId: one.id, shown });
    console.error('OWN', own, shown);
    if (own === 'unreadable') return 'unknown';
    if (own === 'other') return giveUp(one, use, now);
    return book(one, { ...use, own }, now);
  }

  async function giveUp({ id, nonce }: UnsettledTransaction, use: NonceUse, now: Look): Promise<Outcome> {
    const { lostAfterBlocks } = deps.settings;
    const { block, shown } = use;
    others.set(id, use);
    if (lostAfterBlocks === undefined || block.number > now.newest.number - lostAfterBlocks) return 'open';
    if (!(await stands(block))) {
      others.delete(id);
      return 'unknown';
    }
    const lost = await database.atomically(async (tx) => {
      await fence(deps, tx, now.epoch);
      if (!(await lockIfRead(tx, block))) return false;
      // A block that was read meanwhile may have shown it to be ours after all.
      return settleLost(tx, { transactionId: id, nowMs: deps.clock.now(), settlements: deps.settlements });
    });
    others.delete(id);
    if (!lost) return 'open';
    deps.log.warn(
      { lane, nonce, by: shown.hash },
      'another transaction used our nonce; its work is done again',
    );
    return 'over';
  }

  async function book(
    { id, nonce }: UnsettledTransaction,
    { block, shown, own }: NonceUse & { own: OwnOffer },
    now: Look,
  ): Promise<Outcome> {
    const receipt = await chain.receipt(shown.hash).catch(noAnswer);
    if (receipt?.blockHash !== block.hash) return 'unknown';
    const booked = await database.atomically(async (tx) => {
      await fence(deps, tx, now.epoch);
      if (!(await lockIfRead(tx, block))) return undefined;
      const [transaction] = await transactionsById(tx, [id]);
      if (transaction?.status !== 'stored' && transaction?.status !== 'sent') return undefined;
      const { bytes, kind, isOutbid } = own;
      const of = { transactionId: id, kind, createdAt: deps.clock.now(), isOutbid };
      if (bytes) await adoptAttempt(tx, bytes, of);
      return deps.bookLate(tx, { transaction, kind, block, receipt });
    });
    if (!booked) return 'open';
    booked();
    deps.log.warn(
      { lane, nonce, hash: shown.hash },
      'an offer of ours that was lost is in a block; it is booked',
    );
    return 'over';
  }
}

function noAnswer(error: unknown): undefined {
  if (isRpcError(error)) return undefined;
  throw error;
}
