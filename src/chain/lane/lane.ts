/**
 * One sending account. It signs one transaction after the other, stores the signed bytes together with what
 * they are for, and only then sends them. From then on the same bytes, or a stored replacement with the same
 * payload, are all that is ever sent under that nonce.
 */
import type { Hex } from 'viem';
import type { Database, Queries } from '../../ledger/database/database.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { leaseLane, releaseLane } from '../../ledger/transactions/lanes.ts';
import {
  nextNonce,
  storeTransaction,
  type UnsettledTransaction,
  unsettledTransactions,
} from '../../ledger/transactions/transactions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Alarms } from '../alarms.ts';
import type { ChainClient } from '../rpc/client.ts';
import { type FeePolicy, type Fees, priceTransaction } from './fees.ts';
import { createLostNonceWatch } from './lost-nonces.ts';
import { fence, type InFlight, offerAll, offerFresh, sign, tendLowest, unoffered } from './offers.ts';
import type { Signer } from './signer.ts';

/** What a transaction does. */
export interface Payload {
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
}

/** Where a lane's work comes from. */
export interface LaneWork {
  /**
   * Binds the next piece of work to `transactionId` and returns what the chain is to do for it; undefined when
   * there is none. Runs inside the commit that stores the signed bytes, perhaps several times.
   */
  bindNext(tx: Queries, transactionId: string): Promise<Payload | undefined>;
  /** Signed bytes are stored. */
  stored?(transaction: { id: string; hash: Hex }): void;
  /** A node has the bytes. */
  sent?(transaction: { id: string; hash: Hex }): void;
}

export interface LaneSettings {
  purpose: LanePurpose;
  chainId: number;
  fees: FeePolicy;
  /** Transactions sent and not yet in a block; public nodes promise to keep 16 of one account. */
  inFlightMax: number;
  /** Transactions that are stored in one commit. */
  storeMax: number;
  leaseMs: number;
  /** Bytes that are in no block after so long are offered to the node again. */
  resendAfterMs: number;
  /** After so long they are replaced by a better offer. */
  bumpAfterMs: number;
  /** A nonce that somebody else used is given up so many blocks later; without it, never. */
  lostAfterBlocks?: number;
}

export interface LaneDeps {
  database: Database;
  chain: ChainClient;
  signer: Signer;
  work: LaneWork;
  /** Business time, for rows. */
  clock: Clock;
  /** Real time, for leases and patience: moving the emulator's clock must not expire them. */
  realClock: Clock;
  random: Random;
  /** Name of this process among those that share the database. */
  owner: string;
  alarms: Alarms;
  log: Log;
  crash: Crash;
  settings: LaneSettings;
}

export interface Lane {
  readonly address: Hex;
  /** Does what there is to do now, without waiting; 'worked' when there may be more. */
  turn(): Promise<'worked' | 'idle'>;
  /** The chain took blocks back, or someone else changed the rows: read them again before going on. */
  reload(): void;
  /** Gives the lease back. */
  release(): Promise<void>;
}

export function createLane(deps: LaneDeps): Lane {
  const { database, signer, settings, realClock, alarms, log } = deps;
  const address = signer.address;
  let held: { epoch: number; untilMs: number } | undefined;
  let inFlight: InFlight[] | undefined;
  let loadedAtMs = 0;
  const watchLostNonces = createLostNonceWatch(deps);

  /** The epoch to write under, or undefined while another process has the lane. */
  const lease = async (): Promise<number | undefined> => {
    const nowMs = realClock.now();
    const { leaseMs, purpose } = settings;
    // Renewed at half time; while it is fresh, the row need not be asked.
    if (held && nowMs < held.untilMs - leaseMs / 2) return held.epoch;
    const epoch = await leaseLane(database.db, {
      address,
      purpose,
      owner: deps.owner,
      nowMs,
      forMs: leaseMs,
    });
    if (epoch === undefined) {
      held = undefined;
      inFlight = undefined;
      return undefined;
    }
    if (epoch !== held?.epoch) {
      log.info({ lane: address, purpose, epoch }, 'lane taken');
      inFlight = undefined;
    }
    held = { epoch, untilMs: nowMs + leaseMs };
    return epoch;
  };

  /** What the ledger says is in no block, with what is known here about each. */
  const load = async (now: { chainNonce: number; epoch: number }): Promise<InFlight[]> => {
    if (!inFlight) deps.crash('recover.started');
    loadedAtMs = realClock.now();
    const unsettled = await unsettledTransactions(database.db, address);
    await watchLostNonces(unsettled, now);
    const known = new Map(inFlight?.map((one) => [one.hash, one]));
    return unsettled.map((one) => known.get(one.hash) ?? unoffered(one));
  };

  return {
    address,
    reload() {
      inFlight = undefined;
    },
    async release() {
      if (held) await releaseLane(database.db, { address, owner: deps.owner });
      held = undefined;
      inFlight = undefined;
    },
    async turn() {
      try {
        return await turn();
      } catch (error) {
        // A commit that failed may have been made all the same: what is in flight is read from the ledger again.
        inFlight = undefined;
        throw error;
      }
    },
  };

  async function turn(): Promise<'worked' | 'idle'> {
    const epoch = await lease();
    if (epoch === undefined) return 'idle';
    const [latest, chainNonce] = await Promise.all([deps.chain.block('latest'), deps.chain.nonce(address)]);
    if (!latest) return 'idle';
    // Now and then all the same: another process may have been the one to notice that blocks were taken back.
    if (!inFlight || realClock.now() - loadedAtMs >= settings.resendAfterMs) {
      inFlight = await load({ chainNonce, epoch });
    }
    // What is below the chain's nonce is in a block; the follower finds out in which, and under what hash.
    inFlight = inFlight.filter(({ nonce }) => nonce >= chainNonce);
    const flight = inFlight;
    const allTaken = await offerAll(deps, flight);
    if (await tendLowest(deps, flight, { epoch, latest })) return 'worked';
    if (!allTaken) return 'idle';
    if (flight.length >= settings.inFlightMax) return 'idle';

    const fees = priceTransaction(latest.baseFeeWei, settings.fees);
    if (!fees) {
      alarms.raise('fee_over_cap', address, { baseFeeWei: String(latest.baseFeeWei) });
      return 'idle';
    }
    alarms.clear('fee_over_cap', address);
    const count = Math.min(settings.storeMax, settings.inFlightMax - flight.length);
    const stored = await database.atomically((tx) => storeNext(deps, tx, { epoch, fees, chainNonce, count }));
    if (stored.length === 0) return 'idle';
    deps.crash('lane.stored');
    const fresh = stored.map(unoffered);
    for (const one of fresh) deps.work.stored?.(one);
    flight.push(...fresh);
    return (await offerFresh(deps, fresh)) ? 'worked' : 'idle';
  }
}

/** Signs the next pieces of work and stores them under the lane's next nonces, all in one commit. */
async function storeNext(
  deps: LaneDeps,
  tx: Queries,
  terms: { epoch: number; fees: Fees; chainNonce: number; count: number },
): Promise<UnsettledTransaction[]> {
  const { signer, settings, alarms } = deps;
  const lane = signer.address;
  await fence(deps, tx, terms.epoch);
  const ledgerNonce = await nextNonce(tx, lane);
  if (ledgerNonce !== undefined && terms.chainNonce > ledgerNonce) {
    // Going on would pay under nonces that somebody else is using as well.
    alarms.raise('foreign_nonce', lane, { chainNonce: terms.chainNonce, ledgerNonce });
    return [];
  }
  alarms.clear('foreign_nonce', lane);
  const first = ledgerNonce ?? terms.chainNonce;
  const stored: UnsettledTransaction[] = [];
  while (stored.length < terms.count) {
    const nonce = first + stored.length;
    const id = deps.random.uuid();
    const payload = await deps.work.bindNext(tx, id);
    if (!payload) break;
    const signed = await sign(deps, { nonce, payload, fees: terms.fees });
    deps.crash('lane.signed');
    const { purpose } = settings;
    const row = { id, lane, nonce, purpose, epoch: terms.epoch, createdAt: deps.clock.now(), ...signed };
    await storeTransaction(tx, row);
    stored.push({ id, nonce, kind: 'payload', ...signed });
  }
  if (stored.length > 0) deps.crash('lane.before-store');
  return stored;
}
