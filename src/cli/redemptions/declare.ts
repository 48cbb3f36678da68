/** `rewards redemptions`: names, arguments and options. */
import { InvalidArgumentError } from 'commander';
import { option } from '../machine/options.ts';
import { ledgerOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareRedemptions({ parent, lazily }: Catalog): void {
  const redemptions = parent
    .command('redemptions')
    .summary('redemptions that users asked for: look at them, and give up one that waits')
    .description(
      'Works on the emulator that runs here, or with the address of a database on a production ledger, also beside its running service.',
    );
  declareList({ parent: redemptions, lazily }, 'list');
  const drop = redemptions
    .command('drop')
    .summary('give up a redemption that waits: RWT and stock that are kept for it are free again')
    .argument('<id>', 'id of the redemption, as list prints it');
  for (const one of ledgerOptions()) drop.addOption(one);
  drop
    .addHelpText(
      'after',
      `
One that a transaction carries cannot be dropped: its block decides.

Example:
  rewards redemptions drop 019aac5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f`,
    )
    .action(lazily(async () => (await import('../check/redemptions.ts')).dropRedemption));
}

/** The list, under the name that its group calls it. */
export function declareList({ parent, lazily }: Catalog, name: string): void {
  const list = parent
    .command(name)
    .summary('print what users redeemed, newest first: code, state, user, cost, transaction');
  for (const one of ledgerOptions()) list.addOption(one);
  list
    .addOption(option('--brand <brand>', 'its id or one of its domains [default: all brands]'))
    .addOption(option('--waiting', 'only those that no transaction carries yet, oldest first, and why'))
    .addOption(option('--limit <n>', 'how many at most [default: 50]', { parse: count }))
    .addHelpText(
      'after',
      `
Examples:
  rewards ${parent.name()} ${name} --waiting
  rewards ${parent.name()} ${name} --brand demo.example -o json | jq -r '.data.body.redemptions[] | select(.state == "valid") | .user'`,
    )
    .action(lazily(async () => (await import('../check/redemptions.ts')).listRedemptions));
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}
