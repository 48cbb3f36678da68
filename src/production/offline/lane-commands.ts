/** What `rewards lane` does on a ledger without a service. */
import {
  acceptPlanned,
  type NonceAcceptance,
  planAcceptance,
  planRetirement,
  retireLane,
  showLanes,
} from '../../actions/manage-lanes.ts';
import { createChainHistory } from '../../audit/chain-history.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { Facts } from '../../ledger/facts.ts';
import { systemClock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { checkSequences } from '../checks.ts';
import type { OpenLedger } from './open-ledger.ts';

interface Connected {
  chain: ChainClient;
  rpc: Rpc;
  facts: Facts['chain'];
  finalityBlocks: number;
}

/** `by`: who decides it, and why. Throws E_PROD_LEDGER_BEHIND from `plan` when the ledger is an old copy. */
export function laneCommands(
  { database, asked }: Pick<OpenLedger, 'database' | 'asked'>,
  { chain, rpc, facts, finalityBlocks }: Connected,
) {
  const deps = { database, chain, finalityBlocks };
  const nowMs = () => systemClock().now();
  return {
    show: () => asked(() => showLanes(deps)),
    plan: (account: string) =>
      asked(async () => {
        const history = createChainHistory({ rpc, contracts: facts.contracts });
        const [behind] = await checkSequences(history, { database, chain });
        if (behind) throw new PreconditionError(behind);
        return planAcceptance(deps, account);
      }),
    planRetirement: (account: string) => asked(() => planRetirement({ database }, account)),
    retire: (account: string, by: { name: string; reason: string }) =>
      asked(() => retireLane({ database }, account, { ...by, nowMs: nowMs() })),
    accept: (planned: NonceAcceptance, by: { name: string; reason: string }) =>
      asked(() => acceptPlanned(deps, planned, { ...by, nowMs: nowMs() })),
  };
}
