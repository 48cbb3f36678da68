/** The node of a fresh stack, started before anything else: it takes about as long to start as the program to load. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AnvilProcess, startAnvil } from '../chain/development/anvil.ts';
import { systemClock } from '../lib/clock.ts';
import type { ServeConfig } from './serve-config.ts';
import { LEDGER } from './state/data-files.ts';

export interface PrestartedNode {
  /** Hands the node over to the first caller; later callers get undefined. */
  take(): Promise<AnvilProcess> | undefined;
  /** Ends it, unless it was taken. */
  drop(): Promise<void>;
}

/** Undefined for a stack that has a chain already, or a clock that only its ledger knows. */
export function prestartNode(config: ServeConfig): PrestartedNode | undefined {
  if (config.rpcUrl || config.importFile || config.databaseUrl) return undefined;
  if (!config.ephemeral && existsSync(join(config.dataDir, LEDGER))) return undefined;
  const { bindAddress, blockTimeSeconds, clockStartMs = systemClock().now() } = config;
  const genesisTimeSeconds = Math.floor(clockStartMs / 1_000);
  const settings = { bindAddress, port: 0, blockTimeSeconds, genesisTimeSeconds, miningOff: true };
  let node: Promise<AnvilProcess> | undefined = startAnvil(settings);
  // The caller that takes it is told why it did not start.
  node.catch(() => undefined);
  return {
    take() {
      const taken = node;
      node = undefined;
      return taken;
    },
    async drop() {
      const left = node;
      node = undefined;
      await left?.then(
        (started) => started.stop(),
        () => undefined,
      );
    },
  };
}
