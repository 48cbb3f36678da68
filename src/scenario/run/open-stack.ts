/** A fresh stack of the emulator, in this process and on free ports, for one case of a scenario. */
import { createEmulator, type Emulator } from '../../emulator/create-emulator.ts';
import type { Log } from '../../lib/log.ts';
import type { Ready } from '../../stack/ready.ts';
import type { ScenarioTarget } from '../steps/world.ts';
import { canOfOwn, targetOf } from './stack-target.ts';

export interface StackWish {
  /** Absolute paths; empty: the packaged demo. */
  seedFiles: string[];
  clockStartMs?: number | undefined;
  frozen: boolean;
  errorDialect?: 'current' | 'earlier' | undefined;
  /** An empty Postgres database in place of a file. */
  databaseUrl?: string | undefined;
  log: Log;
}

export interface OpenStack {
  target: ScenarioTarget;
  ready: Ready;
  stop: () => Promise<void>;
}

/** Starts a stack; what it has started is stopped when it cannot. */
export async function openStack(wish: StackWish): Promise<OpenStack> {
  const emulator: Emulator = await createEmulator({
    ...{ bindAddress: '127.0.0.1', port: 0, portExplicit: false, splitHosts: false },
    ...{ ephemeral: true, dataDir: '', rpcPort: 0, rpcPortExplicit: false, blockTimeSeconds: 0 },
    ...wish,
  });
  try {
    const ready = await emulator.start();
    const can = canOfOwn(wish.databaseUrl !== undefined);
    return { target: { ...targetOf(ready), can }, ready, stop: () => emulator.stop() };
  } catch (error) {
    await emulator.stop().catch(() => undefined);
    throw error;
  }
}
