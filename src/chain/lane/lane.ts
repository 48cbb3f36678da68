/**
 * One sending account. It signs one transaction after the other, stores the signed bytes together with what
 * they are for, and only then sends them. From then on the same bytes, or a stored replacement with the same
 * payload, are all that is ever sent under that nonce.
 */
import { createRepeatedWarning } from '../../lib/failures/failure-log.ts';
import { broadcastAll, broadcastFresh, fresh } from './broadcast.ts';
import { priceTransaction } from './fees.ts';
import { createInFlight } from './in-flight.ts';
import { createLaneLease } from './lease.ts';
import { replaceStuck } from './replace-stuck.ts';
import { storeNext } from './store-next.ts';
import type { BroadcastDeps, InFlight, Lane, LaneDeps } from './types.ts';

/** Nodes have all that is under way, and the lowest of it is not to be looked after yet. */
function isQuiet({ settings, realClock }: LaneDeps, flight: InFlight[]): boolean {
  const nowMs = realClock.now();
  const waitedMs = nowMs - (flight[0]?.firstOfferedMs ?? nowMs);
  const patienceMs = Math.min(settings.resendAfterMs, settings.bumpAfterMs);
  return waitedMs < patienceMs && flight.every(({ taken }) => taken);
}

export function createLane(given: LaneDeps): Lane {
  const { log, realClock } = given;
  const deps: BroadcastDeps = { ...given, notTaken: createRepeatedWarning({ log, nowMs: realClock.now }) };
  const { database, settings, alarms } = deps;
  const { address } = deps.signer;
  const underWay = createInFlight(deps);
  const hold = createLaneLease(deps, underWay.forget);

  return {
    address,
    reload: underWay.forget,
    release: hold.release,
    async turn() {
      try {
        return await turn();
      } catch (error) {
        // A commit that reported failure may have succeeded: the transactions in flight are read from the ledger again.
        underWay.forget();
        throw error;
      }
    },
  };

  async function turn(): Promise<'worked' | 'idle'> {
    const epoch = await hold.epoch();
    if (epoch === undefined) return 'idle';
    const known = underWay.known();
    if (known && isQuiet(deps, known) && !(await deps.work.isWaiting(database.db))) return 'idle';
    const asOf = underWay.timesForgotten();
    const [latest, chainNonce, pendingNonce] = await Promise.all([
      deps.chain.block('latest'),
      deps.chain.nonce(address),
      deps.chain.nonce(address, 'pending'),
    ]);
    if (!latest) return 'idle';
    const flight = await underWay.at({ chainNonce, epoch, asOf });
    if (!flight) return 'worked';
    const holds = async () => (await hold.epoch()) === epoch;
    const offered = await broadcastAll(deps, flight, { epoch, holds });
    if (offered === 'lost') return 'idle';
    if (await replaceStuck(deps, flight, { epoch, latest })) return 'worked';
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
    return (await broadcastFresh(deps, unoffered, epoch)) ? 'worked' : 'idle';
  }
}
