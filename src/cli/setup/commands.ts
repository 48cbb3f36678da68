/** `rewards brand`: names, arguments and options. */
import type { Command } from 'commander';
import { brandSpec, ruleSpec, type Spec, settingNames } from '../../rules/brands/spec.ts';
import { asGiven, durationMs, option } from '../machine/options.ts';
import { outOption } from '../machine/secret-file.ts';
import { ledgerOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';
import { settingFlags } from './brand-flags.ts';

const BRAND = 'its id or one of its domains';

export function declareBrand({ parent, lazily }: Catalog): void {
  const brand = parent
    .command('brand')
    .summary('create and change brands, what their events pay, and their keys')
    .description(
      'Works on the emulator that runs here, or with the address of a database on a production ledger. A change applies to the next event, without a restart.',
    );
  const verb = (name: string, summary: string): Command => {
    const made = brand.command(name).summary(summary);
    for (const one of ledgerOptions()) made.addOption(one);
    return made;
  };

  verb('list', 'print all brands').action(lazily(async () => (await import('./brand.ts')).listBrands));
  verb('show', 'print a brand with its rules and keys')
    .argument('[brand]', `${BRAND}; default: the first one of the emulator`)
    .action(lazily(async () => (await import('./brand.ts')).showBrand));
  withFlags(verb('create', 'add a brand; prints its API key, once'), brandSpec, { asNew: true })
    .argument('<brandId>', brandSpec.brandId.help)
    .addOption(option('--escrow <rwt>', 'RWT to pay from; emulator only'))
    .addOption(outOption())
    .addHelpText(
      'after',
      `
Example:
  rewards brand create 0x1111111111111111111111111111111111111111 --brand-name Shop --domain shop.example --escrow 10000
  rewards brand rule shop.example account_creation --reward 100`,
    )
    .action(lazily(async () => (await import('./brand.ts')).createBrand));
  declareSet(verb, lazily);
  declareRule(verb, lazily);
  declareAlias(verb, lazily);
  verb('rotate-key', 'print a new API key, once; the earlier ones end later')
    .argument('<brand>', BRAND)
    .addOption(
      option('--overlap <duration>', 'how long the earlier keys still work', {
        default: '24h',
        parse: (text: string) => (text === '0' ? text : asGiven(durationMs)(text)),
      }),
    )
    .addOption(outOption())
    .action(lazily(async () => (await import('./brand.ts')).rotateKey));
  verb('fund', "create RWT in a brand's escrow, and record why")
    .argument('<brand>', BRAND)
    .argument('<amount>', 'RWT')
    .addOption(option('--reason <text>', 'why RWT is created; required in production'))
    .addOption(
      option(
        '--transaction <hash>',
        'record a transaction that minted without a row in the ledger; mints nothing',
      ),
    )
    .addOption(outOption())
    .addHelpText(
      'after',
      `
The emulator mints at once. In production the running service mints it, when it has a --mint-key-file; the transaction
that is printed does the same from another account with OPERATOR_ROLE. Sent twice, it mints once.
\`rewards verify\` knows both.

Examples:
  rewards brand fund shop.example 1000
  rewards brand fund shop.example 100000 --reason "invoice 17" --database-url postgres://…`,
    )
    .action(lazily(async () => (await import('./brand.ts')).fundBrand));
  verb('dns', 'print the TXT record that proves that the brand owns a domain')
    .argument('<brand>', BRAND)
    .argument('<domain>', 'the domain to prove')
    .action(lazily(async () => (await import('./brand.ts')).dnsRecord));
}

function declareSet(verb: (name: string, summary: string) => Command, lazily: Catalog['lazily']): void {
  verb('set', 'change settings of a brand')
    .argument('<brand>', BRAND)
    .argument('[setting=value...]', settingNames(brandSpec).join(', '))
    .addOption(
      option('--webhook-url <url>', 'where it is told of its rewards: the URL of its default endpoint'),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards brand set shop.example automation=off
  rewards brand set shop.example domains=shop.example,shop.test platforms.telegram=@ShopBot
  rewards brand set shop.example platforms.telegram=   (removes it)
  rewards brand set shop.example --webhook-url https://shop.example/hooks/rewards`,
    )
    .action(lazily(async () => (await import('./brand.ts')).setBrand));
}

function declareAlias(verb: (name: string, summary: string) => Command, lazily: Catalog['lazily']): void {
  verb('alias', "list other names of a brand's users, add or remove one")
    .argument('<brand>', BRAND)
    .argument('[alias]', 'a name such as wordpress_2@rewards.example, the stand-in e-mail of a platform')
    .argument('[user]', "the user's e-mail")
    .addOption(option('--remove', 'make the alias a user of its own again'))
    .addHelpText(
      'after',
      `
From then on both are one user of this brand, with one wallet; what either has been paid counts for both. What lies in the
wallet of the alias stays there, and is spent with its own user's consent.

Examples:
  rewards brand alias shop.example wordpress_2@rewards.example ann@example.com
  rewards brand alias shop.example
  rewards brand alias shop.example wordpress_2@rewards.example --remove`,
    )
    .action(lazily(async () => (await import('./brand.ts')).brandAlias));
}

function declareRule(verb: (name: string, summary: string) => Command, lazily: Catalog['lazily']): void {
  withFlags(verb('rule', 'print, change, add or remove what an event pays'), ruleSpec)
    .argument('<brand>', BRAND)
    .argument('<eventType>', 'such as account_creation')
    .addOption(option('--remove', 'remove the rule; its claims stay counted'))
    .addHelpText(
      'after',
      `
Without options it prints the rule. A new rule needs --reward; it allows one claim a user and 24h between claims.

Examples:
  rewards brand rule shop.example review_submission --reward 50 --max-claims unlimited --cooldown 7d
  rewards brand rule shop.example purchase --reward 1 --per-usd 2 --max-reward 500
  rewards brand rule shop.example purchase --active off`,
    )
    .action(lazily(async () => (await import('./brand.ts')).brandRule));
}

/** `asNew`: the flags that a new brand needs are mandatory. */
function withFlags(command: Command, spec: Spec, { asNew = false } = {}): Command {
  for (const [, flag, row] of settingFlags(spec)) {
    command.addOption(flag.makeOptionMandatory(asNew && row.required === true));
  }
  return command;
}
