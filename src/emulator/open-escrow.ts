/** Gives a new brand of the emulator RWT to pay from, made from nothing. */
import type { Address } from 'viem';
import { readFunds } from '../ledger/brand-configuration.ts';
import { createMutex } from '../lib/mutex.ts';
import { delay } from '../lib/timers.ts';
import { fundBrands, type PrepareChainDeps } from './prepare-chain.ts';

const POLL_MS = 20;
const BOOKED_WITHIN_MS = 10_000;

/** Resolves when the ledger has booked the deposit, so that the very next event can be paid from it. */
export function createEscrowOpener(deps: PrepareChainDeps, pointsSale: Address) {
  // The admin's account has one nonce after the other.
  const oneByOne = createMutex();
  return async (brandId: Address, amount: number): Promise<void> => {
    await oneByOne(() => fundBrands(deps, pointsSale, [{ brandId, amount }]));
    for (let waitedMs = 0; waitedMs < BOOKED_WITHIN_MS; waitedMs += POLL_MS) {
      const funds = await readFunds(deps.database.db, [brandId]);
      if ((funds.get(brandId)?.deposited ?? 0) >= amount) return;
      await delay(POLL_MS);
    }
    throw new Error(`the deposit of ${brandId} was not booked within ${BOOKED_WITHIN_MS / 1000} s`);
  };
}
