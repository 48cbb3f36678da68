/** `rewards wait`: its options. */

import { gather, option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareWait({ parent, lazily }: Catalog): void {
  parent
    .command('wait')
    .summary('wait until something is so: the stack is ready, a payment is minted, a balance is reached')
    .description(
      'Waits until every --for holds, at most as long as --timeout says (30s), and changes nothing by it. Exit code 0 when all hold, 1 when one can never hold any more, such as a transaction that did nothing, 3 when the time is over.',
    )
    .addOption(
      option('--for <condition>', 'what to wait for; may be given several times [default: ready]', {
        parse: gather,
      }),
    )
    .addHelpText(
      'after',
      `
Conditions:
  ready                  the stack runs here, and is healthy
  tx:HASH                the transaction is in a block, and did what it was to do
  minted:SESSION         the RWT of the checkout are on chain; SESSION is its id, or latest
  balance:USER>=AMOUNT   the user has at least as many RWT; USER is an e-mail or an address
  webhook:EVENT          every endpoint has taken the event, of the service or of the payment processor

Examples:
  rewards wait --timeout 60s
  rewards checkout pay latest && rewards wait --for minted:latest
  rewards wait --for 'balance:alice@demo.example>=100'`,
    )
    .action(lazily(async () => (await import('./wait.ts')).wait));
}
