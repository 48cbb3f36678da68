/** Puts a service together from the adapters that its caller picked: the chain engine and the hosts. */

import { createDomainLooks } from '../actions/brands/look-at-domains.ts';
import { verifyDns } from '../actions/brands/verify-dns.ts';
import {
  type ChainEngine,
  type ChainEngineDeps,
  type ChainEngineSettings,
  createChainEngine,
  createWatchingEngine,
} from '../chain/engine.ts';
import type { WalletTree } from '../identity/wallets.ts';
import { settings } from './config.ts';
import { createHosts, type HostsConfig, type HostsDeps } from './create-hosts.ts';
import type { ServiceHosts } from './one-port.ts';

interface ServiceDeps
  extends Omit<HostsDeps, 'engine' | 'wallets'>,
    Pick<ChainEngineDeps, 'realClock' | 'owner' | 'onReading' | 'beforeSending'> {
  /** Absent in a process that leaves chain work to others. */
  signers?: ChainEngineDeps['signers'] | undefined;
  /** Absent in a process that answers no callers. */
  wallets?: WalletTree | undefined;
}

export interface ServiceConfig extends HostsConfig {
  engine: ChainEngineSettings;
}

export interface Service {
  engine: ChainEngine;
  /** Hosts without listeners; absent without wallets. */
  hosts?: ServiceHosts | undefined;
  /** Resolves when the ledger has caught up with the chain; the engine then runs on its own. */
  start(): Promise<void>;
  /** Resolves when all decisions and all chain work of this process are done. */
  stop(): Promise<void>;
}

/** Emulator and production differ only in `deps`; the service does nothing before `start`. */
export function createService(
  deps: ServiceDeps & { wallets: WalletTree },
  config: ServiceConfig,
): Service & { hosts: ServiceHosts };
export function createService(deps: ServiceDeps, config: ServiceConfig): Service;
export function createService(deps: ServiceDeps, config: ServiceConfig): Service {
  const { signers, wallets } = deps;
  const engineDeps = { ...deps, settings: config.engine };
  const engine = signers ? createChainEngine({ ...engineDeps, signers }) : createWatchingEngine(engineDeps);
  const sending = signers ? [signers.payout.address, signers.relay?.(null).address ?? []].flat() : [];
  const ownAccounts = [...sending, ...(deps.ownAccounts ?? [])];
  const hosts = wallets && createHosts({ ...deps, ownAccounts, engine, wallets }, config);
  const looks = domainLooks(deps, config);
  return {
    engine,
    hosts,
    async start() {
      await engine.start();
      // Background work belongs to the processes that do the chain's.
      if (signers) looks.start();
    },
    async stop() {
      try {
        await Promise.all([hosts?.idle(), looks.stop()]);
      } finally {
        await engine.stop();
      }
    },
  };
}

const domainLooks = (
  { database, dns, clock, log }: ServiceDeps,
  { serviceName }: Pick<ServiceConfig, 'serviceName'>,
) =>
  createDomainLooks(
    {
      ...{ database, clock, log },
      verifyDns: (domain) =>
        verifyDns({ database, dns, serviceName, clock, settings: settings.provenDomains }, domain),
    },
    settings.provenDomains,
  );
