/** A service from the adapters that were picked for it: the chain engine, and the hosts before it. */
import {
  type ChainEngine,
  type ChainEngineDeps,
  type ChainEngineSettings,
  createChainEngine,
  createWatchingEngine,
} from '../chain/engine.ts';
import type { WalletTree } from '../identity/wallets.ts';
import { createHosts, type HostsConfig, type HostsDeps } from './create-hosts.ts';
import type { ServiceHosts } from './one-port.ts';

interface ServiceDeps
  extends Omit<HostsDeps, 'engine' | 'wallets'>,
    Pick<ChainEngineDeps, 'realClock' | 'owner'> {
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
  /** Without listeners yet; absent without wallets. */
  hosts?: ServiceHosts | undefined;
  /** Resolves when what the chain holds is in the ledger; then the engine works by itself. */
  start(): Promise<void>;
  /** Resolves when no decision and no chain work of this process is under way. */
  stop(): Promise<void>;
}

/** The same for the emulator and for production, which differ in `deps` alone; nothing runs before `start`. */
export function createService(
  deps: ServiceDeps & { wallets: WalletTree },
  config: ServiceConfig,
): Service & { hosts: ServiceHosts };
export function createService(deps: ServiceDeps, config: ServiceConfig): Service;
export function createService(deps: ServiceDeps, config: ServiceConfig): Service {
  const { signers, wallets } = deps;
  const engineDeps = { ...deps, settings: config.engine };
  const engine = signers ? createChainEngine({ ...engineDeps, signers }) : createWatchingEngine(engineDeps);
  const hosts = wallets && createHosts({ ...deps, engine, wallets }, config);
  return {
    engine,
    hosts,
    start: engine.start,
    async stop() {
      try {
        await hosts?.idle();
      } finally {
        await engine.stop();
      }
    },
  };
}
