/** How a lane brings signed bytes to the chain: signs them, offers them, and notes what nodes made of them. */
import type { Queries } from '../../ledger/database/database.ts';
import { holdsLane } from '../../ledger/transactions/lanes.ts';
import { markRefused, markSent, type UnsettledTransaction } from '../../ledger/transactions/transactions.ts';
import { keccak256OfHex } from '../../lib/keccak256.ts';
import type { SendOutcome } from '../rpc/send-outcome.ts';
import type { Fees } from './fees.ts';
import { runSingle } from './shared-commits.ts';
import type { BroadcastDeps, InFlight, LaneDeps, Payload } from './types.ts';

/** A transaction of the ledger: what this process has not offered itself, another may have brought to a node. */
export const loaded = (one: UnsettledTransaction): InFlight => ({
  ...one,
  taken: false,
  tooCheap: false,
  offers: one.refused ? 'refused' : 'maybe_taken',
  untakenSinceMs: undefined,
  firstOfferedMs: undefined,
  lastOfferedMs: undefined,
});

/** A transaction that this process has just stored and no process has broadcast yet. */
export const fresh = (one: UnsettledTransaction): InFlight => ({ ...loaded(one), offers: 'none' });

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
    hash: keccak256OfHex(raw),
    raw,
    maxFeeWei: fees.maxFeePerGas,
    priorityFeeWei: fees.maxPriorityFeePerGas,
  };
}

/**
 * Offers, in nonce order, the bytes that no node is known to have: `untaken` at the first that a node does not take.
 * `holds` is asked before each of them, since many take longer than a lease lasts: `lost` when another process has the lane.
 */
export async function broadcastAll(
  deps: BroadcastDeps,
  flight: InFlight[],
  { epoch, holds }: { epoch: number; holds: () => Promise<boolean> },
): Promise<'taken' | 'untaken' | 'lost'> {
  for (const one of flight) {
    if (one.taken) continue;
    if (!(await holds())) return 'lost';
    if ((await broadcast(deps, one, epoch)) === 'untaken') return 'untaken';
    deps.crash('recover.resent');
  }
  return 'taken';
}

/** What came of an offer. new: a node took bytes that it did not have · there: it had them, or a block has their nonce. */
type BroadcastResult = 'new' | 'there' | 'untaken';

/** Offers the bytes once, and notes it when a node has them. */
export async function broadcast(deps: BroadcastDeps, one: InFlight, epoch: number): Promise<BroadcastResult> {
  const offered = await offerBytes(deps, one, epoch);
  if (offered !== 'untaken') await noteTaken(deps, [one]);
  return offered;
}

/** Offers fresh bytes together, in nonce order; what was taken is noted in one commit. False when some were not. */
export async function broadcastFresh(
  deps: BroadcastDeps,
  stored: InFlight[],
  epoch: number,
): Promise<boolean> {
  const answers = await Promise.all(stored.map((one) => offerBytes(deps, one, epoch)));
  const taken = stored.filter((_, place) => answers[place] !== 'untaken');
  if (taken.length > 0) await noteTaken(deps, taken);
  return taken.length === stored.length;
}

async function noteTaken(deps: LaneDeps, taken: InFlight[]): Promise<void> {
  const ids = taken.map(({ id }) => id);
  await runSingle(deps, (queries) => markSent(queries, ids));
  deps.crash('lane.marked-sent');
  for (const one of taken) deps.work.sent?.(one);
}

/** Whatever the answer, the bytes stay the ones of their nonce. */
async function offerBytes(deps: BroadcastDeps, one: InFlight, epoch: number): Promise<BroadcastResult> {
  const { notTaken, realClock } = deps;
  const lane = deps.signer.address;
  const nowMs = realClock.now();
  one.firstOfferedMs ??= nowMs;
  one.lastOfferedMs = nowMs;
  const before = one.offers;
  // Written first: a process that ends after the next line has perhaps brought the bytes to a node.
  if (before === 'refused') await noteRefused(deps, one, { refused: false, epoch });
  one.offers = 'maybe_taken';
  const outcome = await deps.chain.sendRaw(one.raw);
  deps.crash('lane.sent');
  if (outcome.kind === 'accepted' || outcome.kind === 'known' || outcome.kind === 'nonce_used') {
    // nonce_used: these bytes, or others of this nonce, are in a block; the follower finds out which.
    one.taken = true;
    one.untakenSinceMs = undefined;
    deps.crash('lane.answer-read');
    notTaken.over(lane);
    deps.alarms.clear('gas_money_low', lane);
    return outcome.kind === 'accepted' ? 'new' : 'there';
  }
  one.untakenSinceMs ??= nowMs;
  one.tooCheap = outcome.kind === 'rejected' && outcome.reason === 'fee_too_low';
  const why = outcome.kind === 'rejected' ? outcome.reason : outcome.kind === 'unknown' ? outcome.why : '';
  notTaken.say(lane, `${one.nonce} ${outcome.kind} ${why}`, {
    fields: { lane, nonce: one.nonce, outcome: outcome.kind, why },
    message: 'a node did not take a transaction; it is offered again',
  });
  if (outcome.kind !== 'rejected') return 'untaken';
  raiseAlarm(deps, one, outcome.reason);
  if (outcome.certain && before !== 'maybe_taken') {
    await noteRefused(deps, one, { refused: true, epoch });
    one.offers = 'refused';
  }
  return 'untaken';
}

type Rejected = Extract<SendOutcome, { kind: 'rejected' }>;

function raiseAlarm({ alarms, signer }: LaneDeps, { nonce }: InFlight, reason: Rejected['reason']): void {
  if (reason === 'insufficient_gas_money') alarms.raise('gas_money_low', signer.address, { nonce });
  if (reason === 'malformed') alarms.raise('transaction_malformed', signer.address, { nonce });
}

/** Fenced: what a process says that has lost the lane would be of offers before those of the next one. */
const noteRefused = (
  deps: LaneDeps,
  { hash }: InFlight,
  { refused, epoch }: { refused: boolean; epoch: number },
): Promise<void> =>
  deps.database.atomically(async (tx) => {
    await fence(deps, tx, epoch);
    await markRefused(tx, hash, refused);
  });
