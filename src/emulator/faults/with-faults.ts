/** The adapters as the service gets them: each fails while a fault of its seam is set. The emulator's own parts never do. */
import { type ChainClient, createChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { settings } from '../../compose/config.ts';
import type { TxtResolver } from '../../dns/txt.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { AskDeps } from '../../outgoing/ask.ts';
import type { FaultRegistry } from './fault-registry.ts';
import { faultyDatabase } from './faulty-database.ts';
import { faultyNode } from './faulty-node.ts';
import { faultyDns, faultyReceivers } from './faulty-outside.ts';

interface Faultable {
  faults: FaultRegistry;
  rpc: Rpc;
  chain: ChainClient;
  database: Database;
  dns: TxtResolver;
  outgoing: AskDeps;
}

/** As long as the resolver of a machine waits for its name servers. */
const DNS_LIMIT_MS = 2_500;

export function withFaults<Adapters extends Faultable>(adapters: Adapters): Adapters {
  const { faults } = adapters;
  const rpc = faultyNode(adapters, settings.rpc);
  return {
    ...adapters,
    rpc,
    chain: createChainClient(rpc),
    database: faultyDatabase(adapters),
    dns: faultyDns(adapters.dns, faults, { limitMs: DNS_LIMIT_MS }),
    outgoing: faultyReceivers(adapters.outgoing, faults),
  };
}

/** Ends all faults before `stop`, so that what is stopped can put its things in order. */
export function withoutFaults<Stopped>({ faults }: Faultable, stop: () => Stopped): Stopped {
  faults.stop();
  return stop();
}
