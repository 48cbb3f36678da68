/** A fresh stack of the emulator, in this process and on free ports, for one case of a scenario or one test. */
import type { StartFreshStack } from '../stack/fresh-stack.ts';
import { createEmulator } from './create-emulator.ts';

/** Starts a stack; what it has started is stopped when it cannot. */
export const startFreshStack: StartFreshStack = async (options) => {
  const emulator = await createEmulator({
    ...options,
    bindAddress: '127.0.0.1',
    port: 0,
    portExplicit: false,
    splitHosts: false,
    ephemeral: true,
    dataDir: '',
    rpcPort: 0,
    rpcPortExplicit: false,
    blockTimeSeconds: 0,
  });
  try {
    const ready = await emulator.start();
    return { ready, stop: () => emulator.stop() };
  } catch (error) {
    await emulator.stop().catch(() => undefined);
    throw error;
  }
};
