/** Wires the comparison of ledger and chain. */

import { createChainHistory } from '../../audit/chain-history.ts';
import type { VerifyReport } from '../../audit/report.ts';
import { type VerifyOptions, verifyLedger } from '../../audit/verify-ledger.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Facts } from '../../ledger/facts.ts';
import { createBreathing, delay } from '../../lib/timers.ts';

/** Requests and leases wait for a comparison in their process at most this long, and for the statement under way. */
const WORK_AT_ONCE_MS = 8;
/** It has a quarter of a thread that is busy: with half of it, a service at its limit served half as many. */
const OTHERS_TIMES = 3;

export type Verifier = (options?: VerifyOptions) => Promise<VerifyReport>;

/** Compares once per call. */
export function createVerifier(deps: {
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  facts: Facts['chain'];
}): Verifier {
  const { database, chain, rpc, facts } = deps;
  const history = createChainHistory({ rpc, contracts: facts.contracts });
  const { deploymentBlock: firstBlock } = facts;
  return (options) => {
    const breathe = createBreathing(WORK_AT_ONCE_MS, { othersTimes: OTHERS_TIMES });
    return verifyLedger({ database, chain, history, firstBlock, sleep: delay, breathe }, options);
  };
}
