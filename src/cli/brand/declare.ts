/** `rewards brand`: names, arguments and options. */
import type { Command } from 'commander';
import type { Catalog } from '../machine/catalog.ts';
import { durationMs, gather, option } from '../machine/options.ts';

const BRAND = 'its id or one of its domains';

export function declareBrand({ parent, lazily }: Catalog): void {
  const brand = parent
    .command('brand')
    .summary('create and change brands, what their events pay, and their keys')
    .description(
      'Works on the emulator that runs here, or with --database-url on a Postgres database of production. What is changed decides the very next event; nothing needs a restart.',
    );
  const verb = (name: string, summary: string): Command =>
    brand
      .command(name)
      .summary(summary)
      .addOption(
        option('--database-url <url>', 'a Postgres database, in place of the emulator', {
          env: 'REWARDS_DATABASE_URL',
        }),
      );

  verb('list', 'print all brands').action(lazily(async () => (await import('./run.ts')).listBrands));
  verb('show', 'print a brand with its rules and keys')
    .argument('[brand]', `${BRAND}; default: the first one of the emulator`)
    .action(lazily(async () => (await import('./run.ts')).showBrand));
  verb('create', 'add a brand; prints its API key, once')
    .argument('<brandId>', "the address of the brand's wallet")
    .addOption(option('--brand-name <name>', 'what people call it').makeOptionMandatory())
    .addOption(
      option('--domain <domain>', 'where its events come from; repeatable', {
        parse: gather,
      }).makeOptionMandatory(),
    )
    .addOption(
      option('--platform <name=identity>', 'identity on a chat platform, such as telegram=@Bot; repeatable', {
        parse: gather,
      }),
    )
    .addOption(option('--escrow <rwt>', 'RWT to pay from; emulator only'))
    .addHelpText(
      'after',
      `
Example:
  rewards brand create 0x1111111111111111111111111111111111111111 --brand-name Shop --domain shop.example --escrow 10000
  rewards brand rule shop.example account_creation --reward 100`,
    )
    .action(lazily(async () => (await import('./run.ts')).createBrand));
  verb('set', 'change settings of a brand')
    .argument('<brand>', BRAND)
    .argument(
      '<setting=value...>',
      'name, automation, domains, platforms.<name>, clientBypass, mintTo, pregenerate, gasBudget, eventNameMapping.<name>',
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards brand set shop.example automation=off
  rewards brand set shop.example domains=shop.example,shop.test platforms.telegram=@ShopBot
  rewards brand set shop.example platforms.telegram=   (removes it)`,
    )
    .action(lazily(async () => (await import('./run-settings.ts')).setBrand));
  declareRule(verb, lazily);
  verb('rotate-key', 'print a new API key, once; the earlier ones end later')
    .argument('<brand>', BRAND)
    .addOption(
      option('--overlap <duration>', 'how long the earlier keys still work', {
        default: '24h',
        parse: durationText,
      }),
    )
    .action(lazily(async () => (await import('./run.ts')).rotateKey));
  verb('dns', 'print the TXT record that proves a domain to be the brand’s')
    .argument('<brand>', BRAND)
    .argument('<domain>', 'the domain to prove')
    .action(lazily(async () => (await import('./run.ts')).dnsRecord));
}

function declareRule(verb: (name: string, summary: string) => Command, lazily: Catalog['lazily']): void {
  verb('rule', 'print, change, add or remove what an event pays')
    .argument('<brand>', BRAND)
    .argument('<eventType>', 'such as account_creation')
    .addOption(option('--reward <rwt>', 'RWT for one claim'))
    .addOption(option('--max-claims <n>', 'claims of one user, or unlimited'))
    .addOption(option('--max-total <n>', 'claims of all users together, or unlimited'))
    .addOption(option('--cooldown <duration>', 'between two claims of one user, such as 24h, or 0'))
    .addOption(option('--active <state>', 'whether it pays', { choices: ['on', 'off'] }))
    .addOption(option('--channel <id>', 'chat channel that counts; repeatable; none', { parse: gather }))
    .addOption(
      option('--per-usd <rwt>', 'RWT for each dollar of metadata.order_total, in place of the reward; none'),
    )
    .addOption(option('--max-reward <rwt>', 'the most that --per-usd may come to; none'))
    .addOption(option('--multiplier <kind>', 'what multiplies the reward', { choices: ['streak', 'none'] }))
    .addOption(
      option('--url-pattern <pattern>', 'page on which the client script notices it; repeatable; none', {
        parse: gather,
      }),
    )
    .addOption(
      option('--success-selector <selector>', 'element by which it notices it; repeatable; none', {
        parse: gather,
      }),
    )
    .addOption(option('--method <name>', 'how it is noticed, such as url_pattern or manual'))
    .addOption(option('--remove', 'remove the rule; what was claimed stays counted'))
    .addHelpText(
      'after',
      `
Without options it prints the rule. A new rule needs --reward; it allows one claim a user and 24h between claims.

Examples:
  rewards brand rule shop.example review_submission --reward 50 --max-claims unlimited --cooldown 7d
  rewards brand rule shop.example purchase --reward 1 --per-usd 2 --max-reward 500
  rewards brand rule shop.example purchase --active off`,
    )
    .action(lazily(async () => (await import('./run-settings.ts')).brandRule));
}

/** The text as it was given, once it has been found to be right: the service reads the same notation. */
function durationText(text: string): string {
  if (text !== '0') durationMs(text);
  return text;
}
