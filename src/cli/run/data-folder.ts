/** Where `serve` keeps its data: `--persist-to`, else a folder of the project, of its own for each named stack. */
import { resolve } from 'node:path';
import type { CommandContext } from '../machine/context.ts';

export function dataFolder(
  { runtime, settings }: Pick<CommandContext, 'runtime' | 'settings'>,
  persistTo: string | undefined,
): string {
  const home = settings.name ? `.rewards/state-${settings.name}` : '.rewards/state';
  return resolve(runtime.cwd, persistTo ?? home);
}
