/** `rewards webhooks inbox`: names, arguments and options. */

import { option, wholeNumberOf } from '../../machine/options.ts';
import type { Catalog } from '../../machine/verb.ts';

export function declareInbox({ parent, lazily }: Catalog): void {
  parent
    .command('inbox')
    .summary("print what the emulator's built-in receiver got, and whether the signatures are right")
    .description(
      "The demo brand's webhooks go to a receiver inside the emulator, which verifies each and keeps the latest. Every sender may post to it: its address is <control>/inbox of the ready line.",
    )
    .addOption(
      option('-n, --limit <n>', 'number of deliveries, at most', {
        default: 20,
        parse: wholeNumberOf(0, 500),
      }),
    )
    .addOption(option('-f, --follow', 'print each new delivery until it is stopped', { default: false }))
    .addHelpText(
      'after',
      `
Examples:
  rewards webhooks inbox -o json
  rewards webhooks inbox --follow`,
    )
    .action(lazily(async () => (await import('../../talk/webhooks/inbox.ts')).showInbox));
}
