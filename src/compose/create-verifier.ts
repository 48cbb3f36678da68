/** Wires the comparison of ledger and chain. */

import { createChainHistory } from '../audit/chain-history.ts';
import type { VerifyReport } from '../audit/report.ts';
import { verifyLedger } from '../audit/verify-ledger.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { Database } from '../ledger/database/database.ts';
import type { Facts } from '../ledger/facts.ts';
import { delay } from '../lib/timers.ts';

/** Compares once per call; the search ends after `differencesMax` differences. */
export function createVerifier(deps: {
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  facts: Facts['chain'];
}): (differencesMax: number, signal?: AbortSignal) => Promise<VerifyReport> {
  const { database, chain, rpc, facts } = deps;
  const history = createChainHistory({ rpc, contracts: facts.contracts });
  const audited = { database, chain, history, firstBlock: facts.deploymentBlock, sleep: delay };
  return (differencesMax, signal) => verifyLedger(audited, { differencesMax, ...(signal && { signal }) });
}
