/** `rewards brand`. */

import { brandSpec, ruleSpec, type Spec, settingNames } from '../../rules/brands/spec.ts';
import { boardMetrics } from '../../rules/engagement/rank-tree.ts';
import { option, wholeNumberOf } from '../machine/options.ts';
import { outOption } from '../machine/secret-file.ts';
import { BRAND, ledgerOptions, overlapOption } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';
import { settingFlags } from './brand-flags.ts';

const brand = from(() => import('./brand.ts'));

/** `asNew`: the flags that a new brand needs are mandatory. */
const flagsOf = (spec: Spec, { asNew = false } = {}) =>
  settingFlags(spec).map(([, flag, row]) => flag.makeOptionMandatory(asNew && row.required === true));

export const brandCommands: Verbs = {
  brand: {
    summary: 'create and change brands, what their events pay, and their keys',
    description:
      'Works on the emulator that runs here, or with the address of a database on a production ledger. A change applies to the next event, without a restart.',
    verbs: {
      list: { summary: 'print all brands', options: ledgerOptions(), run: brand('listBrands') },
      show: {
        summary: 'print a brand with its rules and keys',
        takes: [['[brand]', `${BRAND}; default: the first one of the emulator`]],
        options: ledgerOptions(),
        run: brand('showBrand'),
      },
      boards: {
        summary: 'print who leads its leaderboard, and what they had in the weeks before',
        takes: [['[brand]', `${BRAND}; default: the first one of the emulator`]],
        options: [
          option('--period <period>', 'of each board', { default: 'week', choices: ['week', 'month'] }),
          option('--metric <metric>', 'by which they are ranked', {
            default: 'rwt_earned',
            choices: boardMetrics,
          }),
          option('--users <n>', 'how many of those who lead', { default: 4, parse: wholeNumberOf(1, 20) }),
          ...ledgerOptions(),
        ],
        help: '\nExample:\n  rewards brand boards demo.example --metric claims',
        run: brand('showBoards'),
      },
      create: {
        summary: 'add a brand; prints its API key, once',
        takes: [['<brandId>', brandSpec.brandId.help]],
        options: [
          ...ledgerOptions(),
          ...flagsOf(brandSpec, { asNew: true }),
          option('--escrow <rwt>', 'RWT to pay from; emulator only'),
          outOption(),
        ],
        help: `
Example:
  rewards brand create 0x1111111111111111111111111111111111111111 --brand-name Shop --domain shop.example --escrow 10000
  rewards brand rule shop.example account_creation --reward 100`,
        run: brand('createBrand'),
      },
      set: {
        summary: 'change settings of a brand',
        takes: [
          ['<brand>', BRAND],
          ['[setting=value...]', settingNames(brandSpec).join(', ')],
        ],
        options: [
          ...ledgerOptions(),
          option('--webhook-url <url>', 'where it is told of its rewards: the URL of its default endpoint'),
        ],
        help: `
Examples:
  rewards brand set shop.example automation=off
  rewards brand set shop.example domains=shop.example,shop.test platforms.telegram=@ShopBot
  rewards brand set shop.example platforms.telegram=   (removes it)
  rewards brand set shop.example --webhook-url https://shop.example/hooks/rewards`,
        run: brand('setBrand'),
      },
      rule: {
        summary: 'print, change, add or remove what an event pays',
        takes: [
          ['<brand>', BRAND],
          ['<eventType>', 'such as account_creation'],
        ],
        options: [
          ...ledgerOptions(),
          ...flagsOf(ruleSpec),
          option('--remove', 'remove the rule; its claims stay counted'),
        ],
        help: `
Without options it prints the rule. A new rule needs --reward; it allows one claim a user and 24h between claims.

Examples:
  rewards brand rule shop.example review_submission --reward 50 --max-claims unlimited --cooldown 7d
  rewards brand rule shop.example purchase --reward 1 --per-usd 2 --max-reward 500
  rewards brand rule shop.example purchase --active off`,
        run: brand('brandRule'),
      },
      alias: {
        summary: "list other names of a brand's users, add or remove one",
        takes: [
          ['<brand>', BRAND],
          ['[alias]', 'a name such as wordpress_2@rewards.example, the stand-in e-mail of a platform'],
          ['[user]', "the user's e-mail"],
        ],
        options: [...ledgerOptions(), option('--remove', 'make the alias a user of its own again')],
        help: `
From then on both are one user of this brand, with one wallet; what either has been paid counts for both. What lies in the
wallet of the alias stays there, and is spent with its own user's consent.

Examples:
  rewards brand alias shop.example wordpress_2@rewards.example ann@example.com
  rewards brand alias shop.example
  rewards brand alias shop.example wordpress_2@rewards.example --remove`,
        run: brand('brandAlias'),
      },
      'rotate-key': {
        summary: 'print a new API key, once; the earlier ones end later',
        takes: [['<brand>', BRAND]],
        options: [...ledgerOptions(), overlapOption('how long the earlier keys still work'), outOption()],
        run: brand('rotateKey'),
      },
      fund: {
        summary: "create RWT in a brand's escrow, and record why",
        takes: [
          ['<brand>', BRAND],
          ['<amount>', 'RWT'],
        ],
        options: [
          ...ledgerOptions(),
          option('--reason <text>', 'why RWT is created; required in production'),
          option(
            '--transaction <hash>',
            'record a transaction that minted without a row in the ledger; mints nothing',
          ),
          outOption(),
        ],
        help: `
The emulator mints at once. In production the running service mints it, when it has a --mint-key-file; the transaction
that is printed does the same from another account with OPERATOR_ROLE. Sent twice, it mints once.
\`rewards verify\` knows both.

Examples:
  rewards brand fund shop.example 1000
  rewards brand fund shop.example 100000 --reason "invoice 17" --database-url postgres://…`,
        run: brand('fundBrand'),
      },
      dns: {
        summary: 'print the TXT record that proves that the brand owns a domain',
        takes: [
          ['<brand>', BRAND],
          ['<domain>', 'the domain to prove'],
        ],
        options: ledgerOptions(),
        run: brand('dnsRecord'),
      },
    },
  },
};
