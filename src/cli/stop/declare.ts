/** `rewards stop`: its options. */

import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareStop({ parent, lazily }: Catalog): void {
  parent
    .command('stop')
    .summary('stop the stack that runs here, and wait until it is gone')
    .description(
      'Stops the stack of this directory or of the nearest one above, as Ctrl-C does, and waits until its process is gone, for as long as --timeout says. The process is known by its start as well, so another one that has got its number since is never stopped.',
    )
    .addOption(option('--all', 'every stack that runs here, whatever its name; done when none does'))
    .addHelpText(
      'after',
      `
Examples:
  rewards stop
  rewards stop --name shop
  rewards stop --all`,
    )
    .action(lazily(async () => (await import('../around/stop.ts')).stop));
}
