/** Waits until the contract knows every perk of the ledger; the redeem lane tells it. */
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Database } from '../../ledger/database/database.ts';
import { openTerms } from '../../ledger/perks/perk-terms.ts';
import { delay, stopwatch } from '../../lib/timers.ts';

/** A start waits for it. */
const POLL_MS = 5;
/** A block may take a while where the chain has a block time. */
const ON_CHAIN_WITHIN_MS = 60_000;

interface PerksOnChainDeps {
  database: Database;
  chain: Pick<ChainClient, 'nonce'>;
  /** How many confirmations a block needs before the ledger reads it, its own included. */
  confirmations: number;
}

export async function perksOnChain(deps: PerksOnChainDeps): Promise<void> {
  const elapsedMs = stopwatch();
  while (elapsedMs() < ON_CHAIN_WITHIN_MS) {
    if (await areOnChain(deps)) return;
    await delay(POLL_MS);
  }
  throw new Error(`the terms of perks were not on chain within ${ON_CHAIN_WITHIN_MS / 1000} s`);
}

/**
 * Terms count once the ledger has read their block. Where it asks for more confirmations, which without transactions never
 * come, the chain's word is enough.
 */
async function areOnChain({ database, chain, confirmations }: PerksOnChainDeps): Promise<boolean> {
  const open = await openTerms(database.db);
  if (confirmations <= 1) return open.length === 0;
  const highest = new Map<`0x${string}`, number>();
  for (const { lane, nonce } of open) {
    if (lane === null || nonce === null) return false;
    highest.set(lane, Math.max(nonce, highest.get(lane) ?? 0));
  }
  for (const [lane, nonce] of highest) if ((await chain.nonce(lane)) <= nonce) return false;
  return true;
}
