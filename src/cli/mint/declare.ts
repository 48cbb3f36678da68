/** `rewards mint`: names, arguments and options. */

import { option } from '../machine/options.ts';
import { ledgerOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareMint({ parent, lazily }: Catalog): void {
  const mint = parent
    .command('mint')
    .summary('mint what a paid checkout bought, or create RWT for an account')
    .usage('<session> | --to <address> --amount <rwt>')
    .argument(
      '[session]',
      'processor’s id of a paid checkout, or latest on an emulator: payment-mint is called',
    )
    .addOption(option('--expect <answer>', 'with a session: succeed only on this answer: 200, 400'))
    .addOption(
      option('--to <address>', 'without a session: the account that gets RWT, recorded with the reason'),
    )
    .addOption(option('--amount <rwt>', 'how much'))
    .addOption(option('--reason <text>', 'why RWT is created; required in production'))
    .addHelpText(
      'after',
      `
A session mints once, however often it is asked for. With --to, the emulator mints at once. In production the running service mints it, when it has a --mint-key-file.
\`rewards verify\` knows the mint; \`rewards brand fund\` mints into a brand's escrow.

Examples:
  rewards mint cs_test_…
  rewards mint latest --expect 400
  rewards mint --to 0x00000000000000000000000000000000000000c3 --amount 1000
  rewards mint --to 0x… --amount 5000 --reason "invoice 17" --database-url postgres://…`,
    )
    .action(lazily(async () => (await import('../setup/mint.ts')).mint));
  for (const one of ledgerOptions()) mint.addOption(one);
}
