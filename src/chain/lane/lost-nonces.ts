/**
 * Nonces of ours that a block has used with a transaction that the ledger does not know. Where that one does what ours was
 * to do, it is an offer of ours whose commit was lost, and is booked. Where it is another one, ours can no longer happen:
 * once the block is final, its work is done again.
 */

import { recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import type { UnsettledTransaction } from '../../ledger/transactions/transactions.ts';
import { findNonceUse, type NonceUse } from './find-nonce-use.ts';
import { type Outcome, settleNonceUse } from './settle-nonce-use.ts';
import type { LaneDeps } from './types.ts';

/** Nonces whose use is searched in one look: each takes some dozen questions, and a lane looks again within seconds. */
const SEARCHES_MAX = 4;

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
      const isOther = others.has(one.id);
      const used = use && { one, use, isOther, epoch: now.epoch, newest: newest.number };
      const outcome = used ? await settleNonceUse(deps, used) : 'unknown';
      if (use && outcome === 'other') others.set(one.id, use);
      else others.delete(one.id);
      outcomes.push(outcome);
    }
    // What somebody else used is told at least once, also where it was final when it was first seen.
    const first = missing.find((_, place) => outcomes[place] !== 'booked');
    if (!first) return alarms.clear('nonce_lost', lane);
    const count = outcomes.filter((outcome) => outcome !== 'booked').length;
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
}
