/** `rewards perks`. */

import { redemptionList } from '../check/commands.ts';
import { gather, option } from '../machine/options.ts';
import {
  apiKeyOption,
  BRAND,
  brandOption,
  expectOption,
  idempotencyKeyOption,
  ledgerOptions,
  USER,
} from '../machine/shared-options.ts';
import { from, type Verb, type Verbs } from '../machine/verb.ts';

const perks = from(() => import('./perks.ts'));
const redeemPerk = from(() => import('./redeem-perk.ts'));

const PERK = 'id of the perk, or its token';
const ofBrand = () => brandOption(`${BRAND} [default: the first brand of the stack that runs here]`);
const brandKey = () => apiKeyOption("the brand's API key; - reads standard input");

/** What a brand's server does with a code; the database of a service in production tells whose a domain is. */
const codeVerb = (name: string, verb: Pick<Verb, 'summary' | 'run'>): Verb => ({
  ...verb,
  takes: [['<code>', 'such as 7KQ2-M9XT-4HVC']],
  options: [ofBrand(), brandKey(), ...ledgerOptions()],
  help: `\nThe key may also be in REWARDS_API_KEY.\n\nExample:\n  rewards perks ${name} 7KQ2-M9XT-4HVC`,
});

export const perkCommands: Verbs = {
  perks: {
    summary: 'what brands offer for RWT',
    description:
      'Works on the emulator that runs here, or with the address of a database on a production ledger, whose service then tells the contract.',
    verbs: {
      list: {
        summary: 'print perks, active or not, and whether the contract knows them',
        options: [...ledgerOptions(), option('--brand <brand>', `${BRAND} [default: all brands]`)],
        run: perks('listPerks'),
      },
      redemptions: redemptionList('perks redemptions'),
      add: {
        summary: 'offer a perk',
        takes: [['<brand>', BRAND]],
        options: [
          ...ledgerOptions(),
          option('--perk-name <name>', 'the name that people read').makeOptionMandatory(),
          option('--category <category>', 'digital, physical or exclusive').makeOptionMandatory(),
          option('--cost <rwt>', 'RWT for one').makeOptionMandatory(),
          option('--stock <n>', 'how many are offered in all, or unlimited', { default: 'unlimited' }),
          option('--description <text>', 'a sentence or two for buyers'),
          option('--image <url>', 'a picture'),
          option('--metadata <json>', "the brand's own values, a JSON object"),
          option('--constraint <json>', 'what a buyer must fulfil beside the price; repeatable', {
            parse: gather,
          }),
          option('--token-id <n>', 'its id in the contract [default: the next that is free]'),
        ],
        help: `
Examples:
  rewards perks add shop.example --perk-name "Tote bag" --category physical --cost 300 --stock 20
  rewards perks add shop.example --perk-name Backstage --category exclusive --cost 900 --constraint '{"type":"chat_role","platform":"discord","role":"vip"}'`,
        run: perks('addPerk'),
      },
      set: {
        summary: 'change settings of a perk, or offer more of it',
        takes: [
          ['<perk>', PERK],
          [
            '<setting=value...>',
            'name, description, category, cost, stock, image, metadata, active, constraints, restock',
          ],
        ],
        options: ledgerOptions(),
        help: `
A stock is what is offered in all, those that are sold included. restock adds to it; what is sold meanwhile stays sold.

Examples:
  rewards perks set 3 cost=500 active=on
  rewards perks set 29fdd1ed-ecad-462e-abb1-d2f25b86fad2 restock=3
  rewards perks set 3 image=   (removes it)`,
        run: perks('setPerk'),
      },
      redeem: {
        summary: "redeem a perk for a user's RWT, and print the code that the user shows",
        takes: [
          ['<user>', USER],
          ['<perk>', 'id, token or name of the perk'],
        ],
        options: [
          ofBrand(),
          brandKey(),
          option(
            '--as <user>',
            "with an access token of this user, in place of the brand's key; the emulator issues it",
          ),
          option('--token <token>', 'with this access token of the user; - reads standard input'),
          option(
            '--permit',
            "with a permit of the user for the perk's price, signed with the emulator's development keys",
          ),
          idempotencyKeyOption(),
          expectOption('200, 4xx, 400:insufficient_balance'),
          ...ledgerOptions(),
        ],
        help: `
Without the user's token or permit, a brand collects at most what it has paid the user and they have not spent.

Examples:
  rewards perks redeem alice@demo.example "Desktop wallpapers"
  rewards perks redeem alice@demo.example "Desktop wallpapers" --as alice
  rewards perks redeem alice@demo.example "Desktop wallpapers" --permit
  rewards perks redeem ann@mail.example 3 --brand shop.example --api-key-file key --target https://rewards.example --database-url-file db`,
        run: redeemPerk('redeemPerk'),
      },
      'check-code': codeVerb('check-code', {
        summary: 'look at the code that a user shows for a redeemed perk',
        run: perks('checkCode'),
      }),
      'use-code': codeVerb('use-code', { summary: 'mark a code as used, once', run: perks('useCode') }),
    },
  },
};
