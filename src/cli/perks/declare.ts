/** `rewards perks`: names, arguments and options. */
import type { Command } from 'commander';
import { gather, headerText, option } from '../machine/options.ts';
import { ledgerOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';
import { declareList } from '../redemptions/declare.ts';

const BRAND = 'its id or one of its domains';
const PERK = 'id of the perk, or its token';

const ofBrand = () =>
  option('--brand <brand>', `${BRAND} [default: the first brand of the stack that runs here]`, {
    env: 'REWARDS_BRAND_ID',
  });
const brandKey = () =>
  option('--api-key-file <path>', "the brand's API key; - reads standard input", {
    env: 'REWARDS_API_KEY_FILE',
  });

export function declarePerks({ parent, lazily }: Catalog): void {
  const perks = parent
    .command('perks')
    .summary('what brands offer for RWT')
    .description(
      'Works on the emulator that runs here, or with the address of a database on a production ledger, whose service then tells the contract.',
    );
  const verb = (name: string, summary: string): Command => {
    const made = perks.command(name).summary(summary);
    for (const one of ledgerOptions()) made.addOption(one);
    return made;
  };
  verb('list', 'print perks, active or not, and whether the contract knows them')
    .addOption(option('--brand <brand>', `${BRAND} [default: all brands]`))
    .action(lazily(async () => (await import('../setup/perks.ts')).listPerks));
  declareList({ parent: perks, lazily }, 'redemptions');
  verb('add', 'offer a perk')
    .argument('<brand>', BRAND)
    .requiredOption('--perk-name <name>', 'the name that people read')
    .requiredOption('--category <category>', 'digital, physical or exclusive')
    .requiredOption('--cost <rwt>', 'RWT for one')
    .addOption(option('--stock <n>', 'how many are offered in all, or unlimited', { default: 'unlimited' }))
    .addOption(option('--description <text>', 'a sentence or two for buyers'))
    .addOption(option('--image <url>', 'a picture'))
    .addOption(option('--metadata <json>', "the brand's own values, a JSON object"))
    .addOption(
      option('--constraint <json>', 'what a buyer must fulfil beside the price; repeatable', {
        parse: gather,
      }),
    )
    .addOption(option('--token-id <n>', 'its id in the contract [default: the next that is free]'))
    .addHelpText(
      'after',
      `
Examples:
  rewards perks add shop.example --perk-name "Tote bag" --category physical --cost 300 --stock 20
  rewards perks add shop.example --perk-name Backstage --category exclusive --cost 900 --constraint '{"type":"chat_role","platform":"discord","role":"vip"}'`,
    )
    .action(lazily(async () => (await import('../setup/perks.ts')).addPerk));
  verb('set', 'change settings of a perk, or offer more of it')
    .argument('<perk>', PERK)
    .argument(
      '<setting=value...>',
      'name, description, category, cost, stock, image, metadata, active, constraints, restock',
    )
    .addHelpText(
      'after',
      `
A stock is what is offered in all, those that are sold included. restock adds to it; what is sold meanwhile stays sold.

Examples:
  rewards perks set 3 cost=500 active=on
  rewards perks set 29fdd1ed-ecad-462e-abb1-d2f25b86fad2 restock=3
  rewards perks set 3 image=   (removes it)`,
    )
    .action(lazily(async () => (await import('../setup/perks.ts')).setPerk));
  declareRedemptions(perks, lazily);
}

/** What users do with perks, and what a brand's server does with the codes that they show. */
function declareRedemptions(perks: Command, lazily: Catalog['lazily']): void {
  const redeem = perks
    .command('redeem')
    .summary("redeem a perk for a user's RWT, and print the code that the user shows")
    .argument('<user>', 'an e-mail, an address, or <platform>:<id> such as discord:123456789012345678')
    .argument('<perk>', 'id, token or name of the perk')
    .addOption(ofBrand())
    .addOption(brandKey())
    .addOption(
      option(
        '--as <user>',
        "with an access token of this user, in place of the brand's key; the emulator issues it",
      ),
    )
    .addOption(option('--token <token>', 'with this access token of the user; - reads standard input'))
    .addOption(
      option(
        '--permit',
        "with a permit of the user for the perk's price, signed with the emulator's development keys",
      ),
    )
    .addOption(
      option('--idempotency-key <key>', 'the same key gets the first answer again', { parse: headerText }),
    )
    .addOption(option('--expect <answer>', 'succeed only on this answer: 200, 4xx, 400:insufficient_balance'))
    .addHelpText(
      'after',
      `
Without the user's token or permit, a brand collects at most what it has paid the user and they have not spent.

Examples:
  rewards perks redeem alice@demo.example "Desktop wallpapers"
  rewards perks redeem alice@demo.example "Desktop wallpapers" --as alice
  rewards perks redeem alice@demo.example "Desktop wallpapers" --permit
  rewards perks redeem ann@mail.example 3 --brand shop.example --api-key-file key --target https://rewards.example --database-url-file db`,
    )
    .action(lazily(async () => (await import('../setup/redeem-perk.ts')).redeemPerk));
  const ofServices = [redeem];
  for (const [name, summary, load] of [
    ['check-code', 'look at the code that a user shows for a redeemed perk', 'checkCode'],
    ['use-code', 'mark a code as used, once', 'useCode'],
  ] as const) {
    const made = perks
      .command(name)
      .summary(summary)
      .argument('<code>', 'such as 7KQ2-M9XT-4HVC')
      .addOption(ofBrand())
      .addOption(brandKey())
      .addHelpText(
        'after',
        `\nThe key may also be in REWARDS_API_KEY.\n\nExample:\n  rewards perks ${name} 7KQ2-M9XT-4HVC`,
      )
      .action(lazily(async () => (await import('../setup/perks.ts'))[load]));
    ofServices.push(made);
  }
  // With --target: the database of a service in production tells whose a domain is.
  for (const made of ofServices) for (const one of ledgerOptions()) made.addOption(one);
}
