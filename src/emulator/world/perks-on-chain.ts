/** Waits until the contract knows every perk of the ledger; the redeem lane tells it. */
import type { Database } from '../../ledger/database/database.ts';
import { hasOpenTerms } from '../../ledger/perks/perk-terms.ts';
import { delay } from '../../lib/timers.ts';

const POLL_MS = 20;
/** A block may take a while where the chain has a block time. */
const ON_CHAIN_WITHIN_MS = 60_000;

export async function perksOnChain({ database }: { database: Database }): Promise<void> {
  for (let waitedMs = 0; waitedMs < ON_CHAIN_WITHIN_MS; waitedMs += POLL_MS) {
    if (!(await hasOpenTerms(database.db))) return;
    await delay(POLL_MS);
  }
  throw new Error(`the terms of perks were not on chain within ${ON_CHAIN_WITHIN_MS / 1000} s`);
}
