/** What a lane has under way: the transactions that no block is known to hold. */

import { unsettledTransactions } from '../../ledger/transactions/transactions.ts';
import { loaded } from './broadcast.ts';
import { createLostNonceWatch } from './lost-nonces.ts';
import type { InFlight, LaneDeps } from './types.ts';

export function createInFlight(deps: LaneDeps) {
  const { database, settings, realClock } = deps;
  const watchLostNonces = createLostNonceWatch(deps);
  let inFlight: InFlight[] | undefined;
  let loadedAtMs = 0;
  let forgotten = 0;

  const known = () => (realClock.now() - loadedAtMs < settings.resendAfterMs ? inFlight : undefined);

  /** What the ledger says is in no block, with what is known here about each. */
  async function load(now: { chainNonce: number; epoch: number }): Promise<InFlight[]> {
    if (!inFlight) deps.crash('recover.started');
    loadedAtMs = realClock.now();
    const unsettled = await unsettledTransactions(database.db, deps.signer.address);
    await watchLostNonces(unsettled, now);
    const before = new Map(inFlight?.map((one) => [one.hash, one]));
    return unsettled.map((one) => before.get(one.hash) ?? loaded(one));
  }

  return {
    /** It is read from the ledger before anything else is done. */
    forget(): void {
      forgotten += 1;
      inFlight = undefined;
    },
    timesForgotten: () => forgotten,
    /**
     * Undefined: it has to be read. That is so from time to time as well: another process may have noticed that blocks
     * were taken back, or another sender may use the account.
     */
    known,
    /**
     * All that the chain, at this nonce, holds in no block; what is pushed onto it is kept. Undefined when it was forgotten
     * since `asOf`: where blocks were taken back, neither the chain's nonce nor the rows need be what they were.
     */
    async at(now: { chainNonce: number; epoch: number; asOf: number }): Promise<InFlight[] | undefined> {
      const all = known() ?? (await load(now));
      if (now.asOf !== forgotten) return undefined;
      // A nonce below the chain's is in a block; the follower finds out which block and which hash.
      inFlight = all.filter(({ nonce }) => nonce >= now.chainNonce);
      return inFlight;
    },
  };
}
