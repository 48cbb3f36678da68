/** `rewards lane`: names, arguments and options. */

import { startSettings } from '../../production/settings.ts';
import { option, settingOption } from '../machine/options.ts';
import { ledgerOptions, nodeOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareLane({ parent, lazily }: Catalog): void {
  const lane = parent
    .command('lane')
    .summary("the sending accounts of a production ledger, and other senders' use of their keys");
  const show = lane
    .command('show')
    .summary('print the nonces of every sending account, by the ledger and by the chain')
    .action(lazily(async () => (await import('./lane.ts')).showLane));
  const accept = lane
    .command('accept-nonce')
    .summary('let an account go on behind nonces that another sender used for good')
    .description(
      'For the alarm foreign_nonce. Only nonces that final blocks hold, and for which the ledger never signed anything, are skipped. Without --yes it prints what it would do. A running service goes on by itself.',
    )
    .argument('<account>', 'address of the account')
    .requiredOption('--reason <text>', 'why somebody else sent from it; kept in the ledger')
    .requiredOption('--by <name>', 'who accepts it; kept in the ledger')
    .addOption(option('-y, --yes', 'do it'))
    .action(lazily(async () => (await import('./lane.ts')).acceptNonce));
  const retire = lane
    .command('retire')
    .summary('forget an account whose key was replaced: no figures, and no look at what its key does')
    .description(
      'For an account that sends nothing any more. Only one with no transaction that is not final, from which no process sends. Without --yes it prints what it would do.',
    )
    .argument('<account>', 'address of the account')
    .requiredOption('--reason <text>', 'why it is retired; kept in the ledger')
    .requiredOption('--by <name>', 'who retires it; kept in the ledger')
    .addOption(option('-y, --yes', 'do it'))
    .action(lazily(async () => (await import('./lane.ts')).retireLane));
  for (const verb of [show, accept, retire])
    for (const one of [...ledgerOptions(), ...nodeOptions(), settingOption(startSettings.finalityBlocks)])
      verb.addOption(one);
}
