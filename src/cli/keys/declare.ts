/** `rewards keys`: its verb. */

import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareKeys({ parent, lazily }: Catalog): void {
  parent
    .command('keys')
    .summary('make the keys of a production service')
    .command('new')
    .summary('make keys for deployer, payout, mint and relay account, and the key tree of users’ wallets')
    .description(
      'Writes each private key into a file of mode 0600, and the extended public key of users’ wallets beside them. Prints the phrase that those wallets grow from once, on stdout, and keeps it nowhere: write it down and store it offline. Overwrites nothing.',
    )
    .addOption(option('--to <folder>', 'where the files go', { default: 'secrets' }))
    .action(lazily(async () => (await import('../setup/keys.ts')).newKeysCommand));
}
