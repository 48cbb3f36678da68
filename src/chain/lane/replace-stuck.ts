/** How a lane replaces signed bytes that do not get into a block, or into any node, by another offer of the same payload. */
import { parseTransaction } from 'viem';
import { isRefusedThroughout, offersOf, storeReplacement } from '../../ledger/transactions/transactions.ts';
import type { Block } from '../rpc/client.ts';
import { broadcast, fence, sign } from './broadcast.ts';
import { distinctFees, type FeePolicy, type Fees, priceReplacement, priceTransaction } from './fees.ts';
import type { BroadcastDeps, InFlight, LaneDeps, LaneSettings, Payload } from './types.ts';

/** Gas of a transaction that does nothing but use up its nonce. */
const NOOP_GAS = 21_000n;

/**
 * Looks after the lowest transaction in flight, which all others wait for: offers it again, and when that does
 * not help, or gas has become dearer than it offers, replaces it. True when there is more to do: it was replaced, or the
 * others have to be offered again as well.
 */
export async function replaceStuck(
  deps: BroadcastDeps,
  flight: InFlight[],
  now: { epoch: number; latest: Block },
): Promise<boolean> {
  const [lowest] = flight;
  if (!lowest) {
    deps.alarms.clear('transaction_not_taken', deps.signer.address);
    return false;
  }
  const { settings, realClock, alarms } = deps;
  const nowMs = realClock.now();
  watchUntaken(deps, lowest, nowMs);
  const lower = lowerOffer(lowest, now.latest.baseFeeWei, settings);
  if (lower) return replace(deps, lowest, { epoch: now.epoch, fees: lower, onlyIfRefused: true });
  const waitedMs = nowMs - (lowest.firstOfferedMs ?? nowMs);
  const underpriced = lowest.maxFeeWei < now.latest.baseFeeWei;
  // Bytes that no node has answered for are offered again unchanged: their fees may well suffice.
  const answered = lowest.taken || lowest.tooCheap;
  if ((answered && waitedMs >= settings.bumpAfterMs) || (underpriced && waitedMs >= settings.resendAfterMs)) {
    const fees = priceReplacement(
      { maxFeePerGas: lowest.maxFeeWei, maxPriorityFeePerGas: lowest.priorityFeeWei },
      now.latest.baseFeeWei,
      policyFor(lowest, settings),
    );
    if (fees) {
      alarms.clear('fee_over_cap', deps.signer.address);
      return replace(deps, lowest, { epoch: now.epoch, fees });
    }
    alarms.raise('fee_over_cap', deps.signer.address, { baseFeeWei: String(now.latest.baseFeeWei) });
  }
  if (!lowest.taken || nowMs - (lowest.lastOfferedMs ?? 0) < settings.resendAfterMs) return false;
  if ((await broadcast(deps, lowest, now.epoch)) !== 'new') return false;
  // A node that has lost these bytes, by starting again or with blocks that were taken back, has hardly kept the rest.
  for (const other of flight.slice(1)) other.taken = false;
  return flight.length > 1;
}

function watchUntaken({ alarms, signer, settings }: LaneDeps, lowest: InFlight, nowMs: number): void {
  const { nonce, untakenSinceMs } = lowest;
  if (untakenSinceMs === undefined) alarms.clear('transaction_not_taken', signer.address);
  else if (nowMs - untakenSinceMs >= settings.untakenAfterMs)
    alarms.raise('transaction_not_taken', signer.address, { nonce });
}

/** The fee policy for bytes whose gas is known: together they offer no more than nodes take. */
function policyFor(one: InFlight, { fees, offerMaxWei }: LaneSettings): FeePolicy {
  if (offerMaxWei === undefined) return fees;
  const { gas = NOOP_GAS } = parseTransaction(one.raw);
  const capWei = offerMaxWei / gas;
  return capWei < fees.feeCapWei ? { ...fees, feeCapWei: capWei } : fees;
}

/** The present price, when it is an eighth below what refused bytes offer; undefined when they are to stay. */
function lowerOffer(one: InFlight, baseFeeWei: bigint, settings: LaneSettings): Fees | undefined {
  if (one.offers !== 'refused') return undefined;
  const fees = priceTransaction(baseFeeWei, policyFor(one, settings));
  return fees && fees.maxFeePerGas * 8n <= one.maxFeeWei * 7n ? fees : undefined;
}

function payloadIn({ signer }: LaneDeps, { raw }: InFlight): Payload {
  const { to, data, value, gas } = parseTransaction(raw);
  return { to: to ?? signer.address, data: data ?? '0x', valueWei: value ?? 0n, gas: gas ?? NOOP_GAS };
}

/**
 * Stores another offer for the same nonce, with the same payload, and then makes it. False when it may
 * not be made: a node may have bytes of this nonce, and only those that no node has may be replaced.
 */
async function replace(
  deps: BroadcastDeps,
  one: InFlight,
  by: { epoch: number; fees: Fees; onlyIfRefused?: boolean },
): Promise<boolean> {
  const { nonce, kind } = one;
  const payload = payloadIn(deps, one);
  // Only the lane's holder adds attempts, so these are all that the commit below will meet.
  const fees = distinctFees(by.fees, await offersOf(deps.database.db, one.id));
  const signed = await sign(deps, { nonce, payload, fees });
  deps.crash('lane.bump-signed');
  const stored = await deps.database.atomically(async (tx) => {
    await fence(deps, tx, by.epoch);
    if (by.onlyIfRefused && !(await isRefusedThroughout(tx, one.id))) return 'not_refused';
    return storeReplacement(tx, {
      ...signed,
      transactionId: one.id,
      kind,
      createdAt: deps.clock.now(),
    });
  });
  if (stored === 'not_refused') {
    // A node may have bytes of this nonce that offer more: it would take no lower ones.
    one.offers = 'maybe_taken';
    return false;
  }
  if (!stored) {
    // A block holds it after all. It leaves the flight once the chain's nonce shows that, or at the next load.
    Object.assign(one, { taken: true, firstOfferedMs: undefined, lastOfferedMs: deps.realClock.now() });
    return true;
  }
  deps.crash('lane.bump-stored');
  const { nonce: _, ...offered } = { ...one, ...signed, taken: false, tooCheap: false };
  Object.assign(one, offered, { refused: false, offers: 'none', firstOfferedMs: undefined });
  deps.log.info(
    { lane: deps.signer.address, nonce, maxFeeWei: String(fees.maxFeePerGas), kind },
    'a transaction was replaced by another offer',
  );
  await broadcast(deps, one, by.epoch);
  deps.crash('lane.bump-sent');
  return true;
}
