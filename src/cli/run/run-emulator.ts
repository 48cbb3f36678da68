/** Creates, starts and stops the emulator for a command. */

import { crashFromEnvironment } from '../../compose/env.ts';
import type { Emulator } from '../../emulator/create-emulator.ts';
import type { ServeConfig } from '../../emulator/serve-config.ts';
import { within } from '../../lib/timers.ts';
import type { Ready } from '../../stack/ready.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import type { StopSignals } from '../terminal/stop-signals.ts';

/** Longest time for a clean stop. After it the process ends anyway, and the chain's watchdog ends the chain. */
const STOP_CAP_MS = 5_000;

/** Loaded only here, since it loads the chain, the database and the server; the node starts meanwhile. */
export async function createdEmulator({ runtime }: CommandContext, config: ServeConfig): Promise<Emulator> {
  const crash = crashFromEnvironment(runtime.env);
  const { prestartNode } = await import('../../emulator/prestarted-node.ts');
  const prestartedNode = prestartNode(config);
  try {
    const { createEmulator } = await import('../../emulator/create-emulator.ts');
    return await createEmulator(config, { crash }, prestartedNode);
  } catch (error) {
    await prestartedNode?.drop();
    if (!isMissingModule(error, 'better-sqlite3')) throw error;
    throw new CliError('E_NATIVE_SQLITE', {}, { cause: error });
  }
}

const isMissingModule = (error: unknown, name: string) =>
  error instanceof Error &&
  /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException).code)) &&
  error.message.includes(`'${name}'`);

/** Stops what a failed start has started. */
export async function startOrClear(emulator: Emulator): Promise<Ready> {
  try {
    return await emulator.start();
  } catch (error) {
    await within(
      STOP_CAP_MS,
      emulator.stop().catch(() => undefined),
    );
    throw error;
  }
}

/** Resolves with whether everything stopped cleanly. */
export async function stopped(context: CommandContext, emulator: Emulator): Promise<boolean> {
  try {
    await emulator.stop();
    return true;
  } catch (error) {
    context.note(`not everything stopped cleanly: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

/** Resolves with the stop's result; false when its time ran out or a second signal cut it short. */
export async function stopWithin(stop: Promise<boolean>, signals: StopSignals): Promise<boolean> {
  const cut = signals.second.then(() => false);
  return (await Promise.race([within(STOP_CAP_MS, stop), cut])) ?? false;
}
