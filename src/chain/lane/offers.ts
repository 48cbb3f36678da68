/** How a lane brings signed bytes to the chain: offers them, offers them again, and replaces them by a better offer. */
import { keccak256, parseTransaction } from 'viem';
import type { Queries } from '../../ledger/database/database.ts';
import { holdsLane } from '../../ledger/transactions/lanes.ts';
import {
  markSent,
  storeReplacement,
  type UnsettledTransaction,
} from '../../ledger/transactions/transactions.ts';
import type { Block } from '../rpc/client.ts';
import { type Fees, priceReplacement } from './fees.ts';
import type { InFlight, LaneDeps, Payload } from './types.ts';

/** A transaction that this process has not offered to a node yet. */
export const unoffered = (one: UnsettledTransaction): InFlight => ({
  ...one,
  taken: false,
  tooCheap: false,
  firstOfferedMs: undefined,
  lastOfferedMs: undefined,
});

/** Fails unless this process still has the lane; the row stays locked until the commit. */
export async function fence(deps: LaneDeps, tx: Queries, epoch: number): Promise<void> {
  const lane = { address: deps.signer.address, epoch, now: deps.database.now };
  if (!(await holdsLane(tx, lane))) throw new Error('the lease on the lane has run out');
}

/** Signs one payload for one nonce. */
export async function sign(deps: LaneDeps, one: { nonce: number; payload: Payload; fees: Fees }) {
  const { to, data, valueWei, gas } = one.payload;
  const { chainId } = deps.settings;
  const { nonce, fees } = one;
  const raw = await deps.signer.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to,
    data,
    value: valueWei,
    gas,
    ...fees,
  });
  return {
    hash: keccak256(raw),
    raw,
    maxFeeWei: fees.maxFeePerGas,
    priorityFeeWei: fees.maxPriorityFeePerGas,
  };
}

/** Offers, in nonce order, the bytes that no node is known to have; false at the first that a node does not take. */
export async function offerAll(deps: LaneDeps, flight: InFlight[]): Promise<boolean> {
  for (const one of flight) {
    if (one.taken) continue;
    if (!(await offer(deps, one))) return false;
    deps.crash('recover.resent');
  }
  return true;
}

/** Offers the bytes once, and notes it when a node has them. */
export async function offer(deps: LaneDeps, one: InFlight): Promise<boolean> {
  const taken = await offerBytes(deps, one);
  if (taken) await noteTaken(deps, [one]);
  return taken;
}

/** Offers fresh bytes in nonce order, up to the first that is not taken now; what was taken is noted in one commit. */
export async function offerFresh(deps: LaneDeps, fresh: InFlight[]): Promise<boolean> {
  const taken: InFlight[] = [];
  for (const one of fresh) {
    if (!(await offerBytes(deps, one))) break;
    taken.push(one);
  }
  if (taken.length > 0) await noteTaken(deps, taken);
  return taken.length === fresh.length;
}

async function noteTaken(deps: LaneDeps, taken: InFlight[]): Promise<void> {
  await markSent(
    deps.database.db,
    taken.map(({ id }) => id),
  );
  deps.crash('lane.marked-sent');
  for (const one of taken) deps.work.sent?.(one);
}

/** Whatever the answer, the bytes stay the ones of their nonce. */
async function offerBytes(deps: LaneDeps, one: InFlight): Promise<boolean> {
  const { alarms, log, realClock } = deps;
  const lane = deps.signer.address;
  const nowMs = realClock.now();
  one.firstOfferedMs ??= nowMs;
  one.lastOfferedMs = nowMs;
  const outcome = await deps.chain.sendRaw(one.raw);
  deps.crash('lane.sent');
  if (outcome.kind === 'accepted' || outcome.kind === 'known' || outcome.kind === 'nonce_used') {
    // nonce_used: these bytes, or others of this nonce, are in a block; the follower finds out which.
    one.taken = true;
    one.tooCheap = false;
    deps.crash('lane.answer-read');
    alarms.clear('gas_money_low', lane);
    return true;
  }
  one.tooCheap = outcome.kind === 'rejected' && outcome.reason === 'fee_too_low';
  const why = outcome.kind === 'rejected' ? outcome.reason : outcome.kind === 'unknown' ? outcome.why : '';
  log.warn(
    { lane, nonce: one.nonce, outcome: outcome.kind, why },
    'a node did not take a transaction; it is offered again',
  );
  if (outcome.kind === 'rejected' && outcome.reason === 'insufficient_gas_money') {
    alarms.raise('gas_money_low', lane, { nonce: one.nonce });
  }
  if (outcome.kind === 'rejected' && outcome.reason === 'malformed') {
    alarms.raise('transaction_malformed', lane, { nonce: one.nonce });
  }
  return false;
}

/**
 * Looks after the lowest transaction in flight, which all others wait for: offers it again, and when that does
 * not help, or gas has become dearer than it offers, replaces it. True when it was replaced.
 */
export async function tendLowest(
  deps: LaneDeps,
  flight: InFlight[],
  now: { epoch: number; latest: Block },
): Promise<boolean> {
  const [lowest] = flight;
  if (!lowest) return false;
  const { settings, realClock, alarms } = deps;
  const nowMs = realClock.now();
  const waitedMs = nowMs - (lowest.firstOfferedMs ?? nowMs);
  const underpriced = lowest.maxFeeWei < now.latest.baseFeeWei;
  // Bytes that no node has answered for are offered again unchanged: their fees may well suffice.
  const answered = lowest.taken || lowest.tooCheap;
  if ((answered && waitedMs >= settings.bumpAfterMs) || (underpriced && waitedMs >= settings.resendAfterMs)) {
    const fees = priceReplacement(
      { maxFeePerGas: lowest.maxFeeWei, maxPriorityFeePerGas: lowest.priorityFeeWei },
      now.latest.baseFeeWei,
      settings.fees,
    );
    if (fees) {
      alarms.clear('fee_over_cap', deps.signer.address);
      await replace(deps, lowest, { epoch: now.epoch, fees, kind: lowest.kind });
      return true;
    }
    alarms.raise('fee_over_cap', deps.signer.address, { baseFeeWei: String(now.latest.baseFeeWei) });
  }
  if (lowest.taken && nowMs - (lowest.lastOfferedMs ?? 0) >= settings.resendAfterMs)
    await offer(deps, lowest);
  return false;
}

/** Gas of a transaction that does nothing but use up its nonce. */
const NOOP_GAS = 21_000n;

/** Stores a better offer for the same nonce, with the same payload or with none, and then makes it. */
async function replace(
  deps: LaneDeps,
  one: InFlight,
  by: { epoch: number; fees: Fees; kind: 'payload' | 'noop' },
): Promise<void> {
  const before = parseTransaction(one.raw);
  const { nonce } = one;
  const payload: Payload =
    by.kind === 'noop'
      ? { to: deps.signer.address, data: '0x', valueWei: 0n, gas: NOOP_GAS }
      : {
          to: before.to ?? deps.signer.address,
          data: before.data ?? '0x',
          valueWei: before.value ?? 0n,
          gas: before.gas ?? NOOP_GAS,
        };
  const signed = await sign(deps, { nonce, payload, fees: by.fees });
  deps.crash('lane.bump-signed');
  const stored = await deps.database.atomically(async (tx) => {
    await fence(deps, tx, by.epoch);
    return storeReplacement(tx, {
      ...signed,
      transactionId: one.id,
      kind: by.kind,
      createdAt: deps.clock.now(),
    });
  });
  if (!stored) {
    // A block holds it after all. It leaves the flight once the chain's nonce shows that, or at the next load.
    Object.assign(one, { taken: true, firstOfferedMs: undefined, lastOfferedMs: deps.realClock.now() });
    return;
  }
  deps.crash('lane.bump-stored');
  const { nonce: _, ...offered } = { ...one, ...signed, kind: by.kind, taken: false, tooCheap: false };
  Object.assign(one, offered, { firstOfferedMs: undefined });
  deps.log.info(
    { lane: deps.signer.address, nonce, maxFeeWei: String(by.fees.maxFeePerGas), kind: by.kind },
    'a transaction was replaced by a better offer',
  );
  await offer(deps, one);
  deps.crash('lane.bump-sent');
}
