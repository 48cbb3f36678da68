/**
 * Lets a lane go on behind nonces that other senders used. Only nonces above all of the ledger's own are skipped, and only
 * those that final blocks hold: no transaction of ours was ever signed for them. Transactions of ours whose nonce somebody
 * else used are given up by the lane itself, which then does their work again.
 */
import { acceptNonces } from '../../ledger/transactions/accepted-nonces.ts';
import { nextNonce } from '../../ledger/transactions/transactions.ts';
import { type LaneDeps, type LaneState, showLanes } from './show-lanes.ts';

export interface NonceAcceptance {
  lane: LaneState;
  /** The nonces that are skipped: from the first, up to but without `nextNonce`. */
  fromNonce: number;
  nextNonce: number;
}

type AcceptRefusal =
  | { code: 'unknown_lane'; known: string[] }
  | { code: 'nothing_foreign'; lane: LaneState }
  | { code: 'not_final'; lane: LaneState };

/** What accepting would do; changes nothing. */
export async function planAcceptance(
  deps: LaneDeps,
  account: string,
): Promise<NonceAcceptance | { refusal: AcceptRefusal }> {
  const lanes = await showLanes(deps);
  const lane = lanes.find((one) => one.lane.toLowerCase() === account.toLowerCase());
  if (!lane) return { refusal: { code: 'unknown_lane', known: lanes.map((one) => one.lane) } };
  const { ledger, final } = lane.nonce;
  if (!lane.foreign || ledger === null) return { refusal: { code: 'nothing_foreign', lane } };
  if (final <= ledger) return { refusal: { code: 'not_final', lane } };
  return { lane, fromNonce: ledger, nextNonce: final };
}

/** Keeps who accepted the nonces, when and why. False when the lane has gone on meanwhile; then nothing was changed. */
export async function acceptPlanned(
  { database }: Pick<LaneDeps, 'database'>,
  planned: NonceAcceptance,
  by: { name: string; reason: string; nowMs: number },
): Promise<boolean> {
  const { lane, fromNonce, nextNonce: next } = planned;
  return database.atomically(async (tx) => {
    if ((await nextNonce(tx, lane.lane)) !== fromNonce) return false;
    const kept = { acceptedBy: by.name, reason: by.reason, createdAt: by.nowMs };
    await acceptNonces(tx, { lane: lane.lane, fromNonce, nextNonce: next, ...kept });
    return true;
  });
}
