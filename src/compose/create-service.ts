/** Puts a service together from the adapters that its caller picked: the chain engine and the hosts. */

import { createDomainLooks } from '../actions/brands/look-at-domains.ts';
import { verifyDns } from '../actions/brands/verify-dns.ts';
import { createConsumers } from '../actions/consumers/run-consumers.ts';
import { keepBoards } from '../actions/engagement/keep-boards.ts';
import { createPayments } from '../actions/payments/create-payments.ts';
import {
  type ChainEngine,
  type ChainEngineDeps,
  type ChainEngineSettings,
  createChainEngine,
  createWatchingEngine,
} from '../chain/engine.ts';
import type { ChatProvider } from '../constraints/chat-provider.ts';
import type { TxtResolver } from '../dns/txt.ts';
import type { WalletTree } from '../identity/wallets.ts';
import type { AskDeps } from '../outgoing/ask.ts';
import type { PaymentProcessor } from '../payments/processor.ts';
import type { CheckConstraints } from '../rules/constraint.ts';
import { createWebhooks } from '../webhooks/run-webhooks.ts';
import { settings } from './config.ts';
import { createConstraints } from './create-constraints.ts';
import { createHosts, type Hosts, type HostsConfig, type HostsDeps } from './hosts/create-hosts.ts';

interface ServiceDeps
  extends Omit<
      HostsDeps,
      'engine' | 'wallets' | 'payments' | 'verifyDns' | 'nudgeWebhooks' | 'caughtUp' | 'checkConstraints'
    >,
    Pick<ChainEngineDeps, 'realClock' | 'owner' | 'onReading' | 'beforeSending'> {
  /** Absent in a process that leaves chain work to others. */
  signers?: ChainEngineDeps['signers'] | undefined;
  dns: TxtResolver;
  /** Where webhooks and questions to brands' servers may go. */
  outgoing: AskDeps;
  /** Absent where the service knows no chat. */
  chat?: ChatProvider | undefined;
  /** Absent where the service takes no payments. */
  processor?: PaymentProcessor | undefined;
  /** Absent in a process that answers no callers. */
  wallets?: WalletTree | undefined;
}

export interface ServiceConfig extends HostsConfig {
  /** Whether buyers may be sent back to pages of this very machine. */
  loopbackReturns: boolean;
  /** What a domain's DNS record says it is verified for. */
  serviceName: string;
  engine: ChainEngineSettings;
}

export interface Service {
  engine: ChainEngine;
  /** Webhooks that another part of this process has queued are due. */
  nudgeWebhooks(): void;
  /** Resolves when all that blocks show so far has had its consequences: boards, achievements, webhooks that are queued. */
  caughtUp(): Promise<void>;
  /** Hosts without listeners; absent without wallets. */
  hosts?: Hosts | undefined;
  /** Whether a buyer meets what a perk asks of them. */
  checkConstraints: CheckConstraints;
  /** Resolves when the ledger has caught up with the chain; the engine then runs on its own. */
  start(): Promise<void>;
  /**
   * Starts what asks others, once they can be reached: the looks at the payment processor, and webhooks. In the emulator
   * this process listens for both, perhaps at another port than before.
   */
  reachOthers(): void;
  /** Resolves when all decisions and all chain work of this process are done. */
  stop(): Promise<void>;
}

/** Emulator and production differ only in `deps`; the service does nothing before `start`. */
export function createService(
  deps: ServiceDeps & { wallets: WalletTree },
  config: ServiceConfig,
): Service & { hosts: Hosts };
export function createService(deps: ServiceDeps, config: ServiceConfig): Service;
export function createService(deps: ServiceDeps, config: ServiceConfig): Service {
  const { signers, wallets } = deps;
  const engineDeps = { ...deps, settings: config.engine, onFed: () => consumers.nudge() };
  const engine = signers ? createChainEngine({ ...engineDeps, signers }) : createWatchingEngine(engineDeps);
  const sending = signers
    ? [signers.payout, signers.mint, signers.redeem, signers.relay?.(null)].flatMap(
        (one) => one?.address ?? [],
      )
    : [];
  const ownAccounts = [...sending, ...(deps.ownAccounts ?? [])];
  const { database, clock, log, dns } = deps;
  const { serviceName } = config;
  const { provenDomains } = settings;
  const lookAt = (domain: string) =>
    verifyDns({ database, dns, serviceName, clock, settings: provenDomains }, domain);
  const payments = paymentsOf(deps, engine, config);
  const { check: checkConstraints, looks: resultLooks } = createConstraints(deps);
  const { alarms } = engine;
  const webhooks = createWebhooks({ ...deps, ...deps.outgoing, alarms }, settings.webhooks);
  const consumers = createConsumers({
    ...deps,
    alarms,
    onQueued: webhooks.nudge,
    settings: settings.consumers,
  });
  const boards = keepBoards(deps);
  const { caughtUp } = consumers;
  const own = { ownAccounts, engine, payments, checkConstraints, verifyDns: lookAt, caughtUp };
  const hosts =
    wallets && createHosts({ ...deps, ...own, wallets, nudgeWebhooks: () => webhooks.nudge() }, config);
  const looks = createDomainLooks({ database, clock, log, verifyDns: lookAt }, provenDomains);
  return {
    engine,
    nudgeWebhooks: webhooks.nudge,
    caughtUp,
    hosts,
    checkConstraints,
    async start() {
      await engine.start();
      // Background work belongs to the processes that do the chain's.
      if (!signers) return;
      looks.start();
      resultLooks.start();
      consumers.start();
      boards.start();
    },
    reachOthers() {
      if (!signers) return;
      payments?.reconciler.start();
      webhooks.start();
    },
    async stop() {
      try {
        const reconciled = payments?.reconciler.stop();
        await Promise.all([hosts?.idle(), looks.stop(), resultLooks.stop(), webhooks.stop(), reconciled]);
      } finally {
        await Promise.all([consumers.stop(), boards.stop()]);
        await engine.stop();
      }
    },
  };
}

function paymentsOf(deps: ServiceDeps, { mints }: ChainEngine, config: ServiceConfig) {
  const { loopbackReturns, addressRequestsMax } = config;
  const { processor } = deps;
  if (!processor) return undefined;
  const { answerTimeoutMs } = settings;
  const of = { ...settings.payments, answerTimeoutMs, loopbackReturns };
  // Where addresses have no limits, as in the emulator, their checkouts have none either.
  const openCheckouts = addressRequestsMax === 0 ? undefined : settings.payments.openCheckouts;
  return createPayments({ ...deps, processor, mints, settings: { ...of, openCheckouts } });
}
