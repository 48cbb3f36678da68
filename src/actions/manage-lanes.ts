/**
 * The sending accounts: how far each has come by the ledger and by the chain, nonces of theirs that an operator accepts,
 * and how one is retired.
 */
import type { ChainClient } from '../chain/rpc/client.ts';
import { type Database, type Queries, readTime } from '../ledger/database/database.ts';
import { listGasWallets } from '../ledger/relay/gas-wallets.ts';
import type { LanePurpose } from '../ledger/schema/transactions.ts';
import { acceptedNoncesOf, acceptNonces } from '../ledger/transactions/accepted-nonces.ts';
import { everyLane, openOf } from '../ledger/transactions/backlog.ts';
import { keepRetired, listRetiredLanes } from '../ledger/transactions/lanes.ts';
import { nextNonce, unsettledTransactions } from '../ledger/transactions/transactions.ts';

export interface LaneDeps {
  database: Database;
  chain: Pick<ChainClient, 'block' | 'nonce'>;
  /** Depth from which a block counts as final. */
  finalityBlocks: number;
}

interface LaneState {
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

// Lets a lane go on behind nonces that other senders used. Only nonces above all of the ledger's own are skipped, and
// only those that final blocks hold: no transaction of ours was ever signed for them. Transactions of ours whose nonce
// somebody else used are given up by the lane itself, which then does their work again.

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

// Retires a sending account for good, once its key was replaced: it has no figures any more, and what somebody sends
// with its key is no reason to refuse a start. Only an account with nothing open, that no process sends from.

type Address = `0x${string}`;

type RetireRefusal =
  | { code: 'unknown_lane'; known: string[] }
  | { code: 'retired_before'; by: string; at: string }
  | { code: 'gas_wallet'; payer: string }
  | { code: 'in_use'; lane: Address }
  | { code: 'open'; lane: Address; open: number };

/** The account that would be retired, or why not; changes nothing. */
export async function planRetirement(
  { database }: { database: Database },
  account: string,
): Promise<{ lane: Address } | { refusal: RetireRefusal }> {
  const nowMs = await readTime(database);
  return look(database.db, account, nowMs);
}

/** Retires it; what has changed since it was planned is seen, since the same is looked at again in the same commit. */
export async function retireLane(
  { database }: { database: Database },
  account: string,
  by: { name: string; reason: string; nowMs: number },
): Promise<{ lane: Address } | { refusal: RetireRefusal }> {
  const nowMs = await readTime(database);
  return database.atomically(async (tx) => {
    const seen = await look(tx, account, nowMs);
    if ('refusal' in seen) return seen;
    const { lane } = seen;
    await keepRetired(tx, { lane, retiredBy: by.name, reason: by.reason, createdAt: by.nowMs });
    return seen;
  });
}

async function look(
  db: Queries,
  account: string,
  nowMs: number,
): Promise<{ lane: Address } | { refusal: RetireRefusal }> {
  const isIt = (address: string) => address.toLowerCase() === account.toLowerCase();
  const before = (await listRetiredLanes(db)).find(({ lane }) => isIt(lane));
  if (before) {
    const at = new Date(before.createdAt).toISOString();
    return { refusal: { code: 'retired_before', by: before.retiredBy, at } };
  }
  const lanes = await everyLane(db);
  const known = lanes.find(({ address }) => isIt(address));
  if (!known) return { refusal: { code: 'unknown_lane', known: lanes.map(({ address }) => address) } };
  const lane = known.address;
  // These grow from one key, and a payer keeps its wallet for the life of the ledger.
  const wallet = (await listGasWallets(db)).find(({ address }) => isIt(address));
  if (wallet) return { refusal: { code: 'gas_wallet', payer: wallet.payer } };
  if (known.leaseUntil > nowMs) return { refusal: { code: 'in_use', lane } };
  const open = await openOf(db, lane);
  return open > 0 ? { refusal: { code: 'open', lane, open } } : { lane };
}
