/** `rewards constraints`: names, arguments and options. */
import { InvalidArgumentError } from 'commander';
import { option } from '../machine/options.ts';
import { ledgerOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

const USER = 'an e-mail, an address, or <platform>:<id> such as discord:123456789012345678';
const brandOption = () =>
  option(
    '--brand <brand>',
    'id or domain of the brand [default: the first brand of the stack that runs here]',
    {
      env: 'REWARDS_BRAND_ID',
    },
  );

export function declareConstraints({ parent, lazily }: Catalog): void {
  const constraints = parent
    .command('constraints')
    .summary('check what buyers of perks must fulfil, and set the emulated chat')
    .description(
      "A perk may ask more of its buyer than its price: a yes of the brand's server, another perk, a level or a role in a chat. All of it must hold when a perk is redeemed or bought through the relay. list and invalidate work on a production ledger too, with the address of its database; check and chat need the emulator: in production POST /perks/check-eligibility says what a buyer lacks.",
    );
  const ofLedgers = (name: string) => {
    const made = constraints.command(name);
    for (const one of ledgerOptions()) made.addOption(one);
    return made;
  };
  ofLedgers('list')
    .summary('show the perks that have constraints')
    .addOption(brandOption())
    .action(lazily(async () => (await import('../talk/constraints.ts')).listConstraints));
  constraints
    .command('check')
    .summary('check whether a user meets the constraints of a perk, and what is missing')
    .argument('<perk>', 'id of the perk, a UUID')
    .argument('<user>', USER)
    .addOption(brandOption())
    .addHelpText(
      'after',
      `
Examples:
  rewards constraints check e1e181ae-4528-46a0-be75-39696d3c73b9 alice@demo.example
Exits 1 when the user may not buy.`,
    )
    .action(lazily(async () => (await import('../talk/constraints.ts')).checkConstraints));
  ofLedgers('invalidate')
    .summary("forget what a constraint's URL has said, so that the next check asks again")
    .argument('<url>', 'the URL of the constraint')
    .addOption(option('--user <user>', `only results of this user: ${USER}`))
    .addOption(option('--token-id <n>', 'only results for this perk, by its id on chain', { parse: tokenId }))
    .addOption(brandOption())
    .action(lazily(async () => (await import('../talk/constraints.ts')).invalidateResults));
  constraints
    .command('chat')
    .summary("show levels and roles in the emulated chat, or set a user's")
    .argument('[user]', USER)
    .addOption(option('--platform <name>', 'the chat', { default: 'discord' }))
    .addOption(option('--level <n>', "the user's level from now on", { parse: tokenId }))
    .addOption(option('--role <role...>', 'all roles that the user has from now on'))
    .addOption(option('--no-roles', 'take all roles from the user'))
    .addOption(brandOption())
    .addHelpText(
      'after',
      `
Examples:
  rewards constraints chat
  rewards constraints chat alice@demo.example --level 5 --role moderator`,
    )
    .action(lazily(async () => (await import('../talk/constraints.ts')).chatStandings));
}

function tokenId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
