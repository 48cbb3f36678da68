/** Builds the hosts from parts that have been picked already: the same for the emulator and for production. */
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
import { type Crash, neverCrash } from '../lib/crash-points.ts';
import type { Random } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { type RelayChange, settings } from './config.ts';
import { createRelay } from './create-relay-host.ts';
import type { ServiceHosts } from './one-port.ts';

export interface HostParts {
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  engine: Pick<ChainEngine, 'payouts' | 'progress' | 'relays'>;
  facts: Facts['chain'];
  wallets: WalletTree;
  /** Absent where nobody can log in: then there is no relay either. */
  tokens?: TokenVerifier | undefined;
  relay?: RelayChange | undefined;
  dns: TxtResolver;
  clock: Clock;
  random: Random;
  log: Log;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
  /** Addresses or networks of proxies whose word about a request counts. */
  proxies: readonly string[];
  serviceName: string;
  apiPrefix: string;
  /** Host under which users of chat platforms get their stand-in e-mail. */
  ownDomain: string;
  httpsOnly: boolean;
  answerWhen: Milestone;
  errorDialect?: 'current' | 'earlier' | undefined;
  duplicateWindowMs?: number | undefined;
  onRequest?: EventsHostDeps['onRequest'];
  /** Told what was decided about each event: rewarded, or the code of the refusal. */
  onDecision?: (code: string) => void;
  /** Told what became of each relayed call: confirmed, or the code of the refusal. */
  onRelay?: (code: string) => void;
  crash?: Crash | undefined;
}

/** `idle` resolves when no decision is under way. */
export function createHosts(parts: HostParts): ServiceHosts & { idle: () => Promise<void> } {
  const { database, clock, random, log, ownHosts, serviceName, apiPrefix, ownDomain, httpsOnly } = parts;
  const { bodyLimitBytes } = settings;
  const frame = {
    ...{ database, clock, random, log, ownHosts },
    proxies: proxyTrust([...parts.proxies]),
    ...(parts.onRequest && { onRequest: parts.onRequest }),
  };
  const submitter = createEventSubmitter({
    database,
    clock,
    addressAt: parts.wallets.addressAt,
    ownHosts,
    duplicateWindowMs: parts.duplicateWindowMs ?? settings.duplicateWindowMs,
    batchMax: settings.decideBatchMax,
    triesMax: settings.decideTriesMax,
    crash: parts.crash ?? neverCrash,
  });
  const events = createEventsHost({
    ...frame,
    chain: parts.chain,
    token: createRewardToken({ rpc: parts.rpc, address: parts.facts.contracts.token }),
    dns: parts.dns,
    identityReady: parts.tokens?.ready ?? (async () => true),
    realClock: systemClock(),
    serviceName,
    refuser: createRefuser({ clock, dialect: parts.errorDialect ?? 'current' }),
    rewarding: {
      database,
      random,
      submitter: {
        async submit(event) {
          const decision = await submitter.submit(event);
          parts.onDecision?.('refusal' in decision ? decision.refusal.code : 'rewarded');
          return decision;
        },
      },
      payouts: parts.engine.payouts,
      progress: parts.engine.progress,
      answerWhen: parts.answerWhen,
      answerTimeoutMs: settings.answerTimeoutMs,
      crash: parts.crash ?? neverCrash,
    },
    settings: { apiPrefix, bodyLimitBytes, ownDomain, httpsOnly, workerVersion: settings.workerVersion },
  });
  const register = createRegisterHost({
    ...frame,
    addressAt: parts.wallets.addressAt,
    limit: settings.pregenerate,
    refuser: createRegisterRefuser({ clock }),
    settings: { apiPrefix, bodyLimitBytes, ownDomain, httpsOnly },
  });
  const relay = parts.tokens && createRelay(parts, frame, parts.tokens);
  const idle = async () => {
    await Promise.all([submitter.idle(), relay?.idle()]);
  };
  return { events, register, relay: relay?.host, idle };
}
