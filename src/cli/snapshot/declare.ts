/** `rewards snapshot`: names, arguments and options. */

import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const NAME = 'its name, as `rewards snapshot list` shows it';

export function declareSnapshot({ parent, lazily }: Catalog): void {
  const snapshot = parent
    .command('snapshot')
    .summary('save the whole stack, compare it, go back to it')
    .description(
      'A snapshot is one file with the ledger, the chain, the payment processor, webhooks, the site and the clock of one moment.',
    );
  snapshot
    .command('save')
    .summary('save the stack as it is now; nothing is held up')
    .argument('[name]', 'letters, digits, dots, dashes, underscores [default: snapshot-1, or the next free]')
    .addOption(option('--note <text>', 'what it is for'))
    .addOption(option('--replace', 'in the place of an older one of that name'))
    .addHelpText('after', '\nExample:\n  rewards snapshot save base --note "two users, one purchase"')
    .action(lazily(async () => (await import('../emulator/snapshots.ts')).saveSnapshot));
  snapshot
    .command('restore')
    .summary('go back to a snapshot, or to a file of one, without a restart')
    .argument('<name>', `${NAME}; or the path of a file, such as ./base.rewards`)
    .action(lazily(async () => (await import('../emulator/snapshots.ts')).restoreSnapshot));
  snapshot
    .command('list')
    .summary('list the snapshots of the stack, newest first')
    .action(lazily(async () => (await import('../emulator/snapshots.ts')).listSnapshots));
  snapshot
    .command('diff')
    .summary('tell what came, went and changed since a snapshot')
    .argument('<from>', NAME)
    .argument('[to]', 'another snapshot, or now', 'now')
    .action(lazily(async () => (await import('../emulator/snapshots.ts')).diffSnapshots));
  snapshot
    .command('rm')
    .summary('delete a snapshot')
    .argument('<name>', NAME)
    .action(lazily(async () => (await import('../emulator/snapshots.ts')).removeSnapshot));
}
