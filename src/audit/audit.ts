/** What the parts of a comparison of ledger and chain share. */

import type { ChainClient } from '../chain/rpc/client.ts';
import type { Database } from '../ledger/database/database.ts';
import type { ChainHistory } from './chain-history.ts';
import type { Findings } from './report.ts';

export interface VerifyDeps {
  database: Database;
  history: ChainHistory;
  chain: Pick<ChainClient, 'block'>;
  /** The first block that can hold anything of ours. */
  firstBlock: number;
  /** Waits in real time while the chain settles. */
  sleep: (ms: number) => Promise<void>;
}

/** One comparison: what it reads, as of which block, what it adds up and finds. */
export interface Audit extends VerifyDeps {
  block: number;
  findings: Findings;
  /** RWT by brand, gathered by one part and compared by another. */
  sums: Record<'redeemed' | 'paid' | 'unreleased', Map<string, bigint>>;
  supply: { minted: bigint; sold: bigint };
  stopped: () => boolean;
}

/** Adds to a sum by brand. */
export function addTo(sums: Map<string, bigint>, brandId: string, amount: bigint): void {
  const key = brandId.toLowerCase();
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
