/** `rewards mint`: names, arguments and options. */
import type { Catalog } from '../machine/catalog.ts';
import { option } from '../machine/options.ts';
import { ledgerOptions } from '../start/options.ts';

export function declareMint({ parent, lazily }: Catalog): void {
  const mint = parent
    .command('mint')
    .summary('create RWT for an account, and record why')
    .requiredOption('--to <address>', 'the account that gets it')
    .requiredOption('--amount <rwt>', 'how much')
    .addOption(option('--reason <text>', 'why RWT is created; required in production'))
    .addHelpText(
      'after',
      `
The emulator mints at once. In production the running service mints it, when it has a --mint-key-file.
\`rewards verify\` knows the mint; \`rewards brand fund\` mints into a brand's escrow.

Examples:
  rewards mint --to 0x00000000000000000000000000000000000000c3 --amount 1000
  rewards mint --to 0x… --amount 5000 --reason "invoice 17" --database-url postgres://…`,
    )
    .action(lazily(async () => (await import('./run-by-hand.ts')).mintByHand));
  for (const one of ledgerOptions()) mint.addOption(one);
}
