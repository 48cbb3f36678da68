/**
 * One sending account. It signs one transaction after the other, stores the signed bytes together with what
 * they are for, and only then sends them. From then on the same bytes, or a stored replacement with the same
 * payload, are all that is ever sent under that nonce.
 */
import { unsettledTransactions } from '../../ledger/transactions/transactions.ts';
import { priceTransaction } from './fees.ts';
import { createHold } from './hold.ts';
import { createLostNonceWatch } from './lost-nonces.ts';
import { fresh, loaded, offerAll, offerFresh } from './offers.ts';
import { tendLowest } from './replace.ts';
import { storeNext } from './store-next.ts';
import type { InFlight, Lane, LaneDeps } from './types.ts';

/** Nodes have all that is under way, and the lowest of it is not to be looked after yet. */
function isQuiet({ settings, realClock }: LaneDeps, flight: InFlight[]): boolean {
  const nowMs = realClock.now();
  const waitedMs = nowMs - (flight[0]?.firstOfferedMs ?? nowMs);
  const patienceMs = Math.min(settings.resendAfterMs, settings.bumpAfterMs);
  return waitedMs < patienceMs && flight.every(({ taken }) => taken);
}

export function createLane(deps: LaneDeps): Lane {
  const { database, settings, realClock, alarms } = deps;
  const { address } = deps.signer;
  let inFlight: InFlight[] | undefined;
  let loadedAtMs = 0;
  /** How often what is in flight was forgotten. */
  let forgotten = 0;
  const forget = () => {
    forgotten += 1;
    inFlight = undefined;
  };
  const hold = createHold(deps, forget);
  const watchLostNonces = createLostNonceWatch(deps);

  /** What the ledger says is in no block, with what is known here about each. */
  const load = async (now: { chainNonce: number; epoch: number }): Promise<InFlight[]> => {
    if (!inFlight) deps.crash('recover.started');
    loadedAtMs = realClock.now();
    const unsettled = await unsettledTransactions(database.db, address);
    await watchLostNonces(unsettled, now);
    const known = new Map(inFlight?.map((one) => [one.hash, one]));
    return unsettled.map((one) => known.get(one.hash) ?? loaded(one));
  };

  return {
    address,
    reload: forget,
    release: hold.release,
    async turn() {
      try {
        return await turn();
      } catch (error) {
        // A commit that reported failure may have succeeded: the transactions in flight are read from the ledger again.
        forget();
        throw error;
      }
    },
  };

  async function turn(): Promise<'worked' | 'idle'> {
    const epoch = await hold.epoch();
    if (epoch === undefined) return 'idle';
    // Looked at from time to time as well: another process may have noticed that blocks were taken back, or another
    // sender may use the account.
    const isDue = !inFlight || realClock.now() - loadedAtMs >= settings.resendAfterMs;
    if (!isDue && inFlight && isQuiet(deps, inFlight) && !(await deps.work.isWaiting(database.db)))
      return 'idle';
    const asOf = forgotten;
    const [latest, chainNonce, pendingNonce] = await Promise.all([
      deps.chain.block('latest'),
      deps.chain.nonce(address),
      deps.chain.nonce(address, 'pending'),
    ]);
    if (!latest) return 'idle';
    if (!inFlight || isDue) {
      const read = await load({ chainNonce, epoch });
      // Blocks were taken back meanwhile: neither the chain's nonce nor the rows need be what they were.
      if (asOf !== forgotten) return 'worked';
      inFlight = read;
    }
    // A nonce below the chain's is in a block; the follower finds out which block and which hash.
    inFlight = inFlight.filter(({ nonce }) => nonce >= chainNonce);
    const flight = inFlight;
    const holds = async () => (await hold.epoch()) === epoch;
    const offered = await offerAll(deps, flight, { epoch, holds });
    if (offered === 'lost') return 'idle';
    if (await tendLowest(deps, flight, { epoch, latest })) return 'worked';
    if (offered === 'untaken') return 'idle';
    if (flight.length >= settings.inFlightMax) return 'idle';

    const fees = priceTransaction(latest.baseFeeWei, settings.fees);
    if (!fees) {
      alarms.raise('fee_over_cap', address, { baseFeeWei: String(latest.baseFeeWei) });
      return 'idle';
    }
    alarms.clear('fee_over_cap', address);
    const count = Math.min(settings.storeMax, settings.inFlightMax - flight.length);
    const stored = await database.atomically((tx) =>
      storeNext(deps, tx, { epoch, fees, chainNonce, pendingNonce, count }),
    );
    if (stored.length === 0) return 'idle';
    deps.crash('lane.stored');
    const unoffered = stored.map(fresh);
    for (const one of unoffered) deps.work.stored?.(one);
    flight.push(...unoffered);
    return (await offerFresh(deps, unoffered, epoch)) ? 'worked' : 'idle';
  }
}
