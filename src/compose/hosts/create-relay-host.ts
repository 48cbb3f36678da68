/** Builds the relay host from adapters that the caller has picked. */
import { createAddressGate } from '../../actions/admit-address.ts';
import { createRelayQueue } from '../../actions/relay/queue-relays.ts';
import { createRelayTransaction } from '../../actions/relay/relay-transaction.ts';
import type { ChainEngine } from '../../chain/engine.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { relayRefusals } from '../../contract/relay/refusals.ts';
import type { HostFrameDeps } from '../../http/frame/host-frame.ts';
import { createRefuser } from '../../http/frame/refuse.ts';
import { createRelayHost, type RelayHostDeps } from '../../http/relay.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import type { BusinessTime } from '../../ledger/database/database.ts';
import type { Facts } from '../../ledger/facts.ts';
import { readWindow } from '../../ledger/limits/rate-windows.ts';
import { findRelayByHash } from '../../ledger/relay/queued-relays.ts';
import type { CheckConstraints } from '../../rules/constraint.ts';
import { type RelayOverrides, settings } from '../config.ts';

/** `idle` resolves when all calls are queued. */
export function createRelay(
  deps: {
    chain: ChainClient;
    rpc: Rpc;
    engine: Pick<ChainEngine, 'relays'>;
    facts: Facts['chain'];
    tokens: TokenVerifier;
    businessTime: BusinessTime;
    checkConstraints: CheckConstraints;
    frame: Omit<HostFrameDeps, 'settings'> & Pick<RelayHostDeps, 'answerOnce'>;
  },
  config: { relay?: RelayOverrides | undefined; httpsOnly: boolean },
) {
  const { frame, tokens } = deps;
  const { businessTime } = deps;
  const { database, clock, random } = frame;
  const { userLimit, addressLimit, gasMax, budgetGwei, userShare, admitBatchMax, ...limits } = {
    ...settings.relayHost,
    ...config.relay,
  };
  const batch = { batchMax: admitBatchMax, triesMax: settings.decideTriesMax };
  const queue = createRelayQueue({ database, businessTime, userLimit, ...batch });
  const relayTransaction = createRelayTransaction({
    database,
    clock,
    businessTime,
    random,
    chain: deps.chain,
    rpc: deps.rpc,
    contracts: deps.facts.contracts,
    checkConstraints: deps.checkConstraints,
    queue: queue.queue,
    relays: deps.engine.relays,
    settings: {
      userLimit,
      gasMax,
      fees: { ...settings.fees, feeCapWei: limits.feeCapWei },
      permitMarginMs: limits.permitMarginMs,
      budgetGwei,
      userShare,
      answerTimeoutMs: limits.answerTimeoutMs,
      batchMax: admitBatchMax,
    },
  });
  const host = createRelayHost({
    ...frame,
    tokens,
    admitAddress: createAddressGate({
      database,
      clock,
      businessTime,
      ...batch,
      limit: addressLimit,
      windowsKeptMs: limits.windowsKeptMs,
    }),
    relayTransaction,
    findRelay: (hash) => findRelayByHash(database.db, hash),
    windowOf: (subject) => readWindow(database.db, { ...userLimit, subject, now: businessTime() }),
    refuser: createRefuser(relayRefusals, { clock }),
    settings: {
      httpsOnly: config.httpsOnly,
      // The relay's paths stand without it.
      apiPrefix: '',
      bodyLimitBytes: limits.bodyLimitBytes,
      explorerUrl: limits.explorerUrl,
    },
  });
  return { host, idle: queue.idle };
}
