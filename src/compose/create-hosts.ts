/** Builds the hosts from adapters that have been picked already. */
import { createEventSubmitter } from '../actions/events/gather-events.ts';
import { createRewardToken } from '../chain/contracts/reward-token.ts';
import type { ChainEngine } from '../chain/engine.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import type { Milestone } from '../chain/waiting/reward-outcome.ts';
import type { TxtResolver } from '../dns/txt.ts';
import { createEventsHost, type EventsHostDeps } from '../http/events/host.ts';
import { proxyTrust } from '../http/frame/client-address.ts';
import { createRefuser } from '../http/frame/refuse.ts';
import { createRegisterHost } from '../http/register/host.ts';
import { createRegisterRefuser } from '../http/register/refusals.ts';
import type { TokenVerifier } from '../identity/tokens.ts';
import type { WalletTree } from '../identity/wallets.ts';
import type { Database } from '../ledger/database/database.ts';
import type { Facts } from '../ledger/facts.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Crash } from '../lib/crash-points.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { type RelayOverrides, settings } from './config.ts';
import { createRelay } from './create-relay-host.ts';
import type { ServiceHosts } from './one-port.ts';

export interface HostsDeps {
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  engine: Pick<ChainEngine, 'payouts' | 'progress' | 'relays'>;
  facts: Facts['chain'];
  wallets: WalletTree;
  /** Absent where nobody can log in: then there is no relay either. */
  tokens?: TokenVerifier | undefined;
  dns: TxtResolver;
  clock: Clock;
  random: Random;
  log: Log;
  onRequest?: EventsHostDeps['onRequest'];
  /** Told what was decided about each event: rewarded, or the code of the refusal. */
  onDecision?: (code: string) => void;
  /** Told what became of each relayed call: confirmed, or the code of the refusal. */
  onRelay?: (code: string) => void;
  crash: Crash;
}

export interface HostsConfig {
  relay?: RelayOverrides | undefined;
  /** Domains of the service itself. */
  serviceDomains: readonly string[];
  /** Addresses or networks of proxies whose word about a request counts. */
  proxies: readonly string[];
  serviceName: string;
  apiPrefix: string;
  /** Domain of the stand-in e-mails that users of chat platforms get. */
  ownDomain: string;
  httpsOnly: boolean;
  answerWhen: Milestone;
  errorDialect?: 'current' | 'earlier' | undefined;
  duplicateWindowMs?: number | undefined;
}

/** `idle` resolves when no decision is under way. */
export function createHosts(
  deps: HostsDeps,
  config: HostsConfig,
): ServiceHosts & { idle: () => Promise<void> } {
  const { database, clock, random, log, crash } = deps;
  const { serviceName, apiPrefix, ownDomain, httpsOnly, serviceDomains: ownHosts } = config;
  const { bodyLimitBytes } = settings;
  const frame = {
    ...{ database, clock, random, log, ownHosts },
    proxies: proxyTrust([...config.proxies]),
    ...(deps.onRequest && { onRequest: deps.onRequest }),
  };
  const submitter = createEventSubmitter({
    database,
    clock,
    addressAt: deps.wallets.addressAt,
    ownHosts,
    duplicateWindowMs: config.duplicateWindowMs ?? settings.duplicateWindowMs,
    batchMax: settings.decideBatchMax,
    triesMax: settings.decideTriesMax,
    crash,
  });
  const events = createEventsHost({
    ...frame,
    chain: deps.chain,
    token: createRewardToken({ rpc: deps.rpc, address: deps.facts.contracts.token }),
    dns: deps.dns,
    identityReady: deps.tokens?.ready ?? (async () => true),
    realClock: systemClock(),
    serviceName,
    refuser: createRefuser({ clock, dialect: config.errorDialect ?? 'current' }),
    rewarding: {
      database,
      random,
      submitter: {
        async submit(event) {
          const decision = await submitter.submit(event);
          deps.onDecision?.('refusal' in decision ? decision.refusal.code : 'rewarded');
          return decision;
        },
      },
      payouts: deps.engine.payouts,
      progress: deps.engine.progress,
      answerWhen: config.answerWhen,
      answerTimeoutMs: settings.answerTimeoutMs,
      crash,
    },
    settings: { apiPrefix, bodyLimitBytes, ownDomain, httpsOnly, workerVersion: settings.workerVersion },
  });
  const register = createRegisterHost({
    ...frame,
    addressAt: deps.wallets.addressAt,
    limit: settings.pregenerate,
    refuser: createRegisterRefuser({ clock }),
    settings: { apiPrefix, bodyLimitBytes, ownDomain, httpsOnly },
  });
  const relay = deps.tokens && createRelay({ ...deps, frame, tokens: deps.tokens }, config);
  const idle = async () => {
    await Promise.all([submitter.idle(), relay?.idle()]);
  };
  return { events, register, relay: relay?.host, idle };
}
