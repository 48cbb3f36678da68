/** Commands that talk to the service. */
import { asGiven, durationMs, gather, headerText, option, wholeNumberOf } from '../machine/options.ts';
import {
  apiKeyOption,
  brandOption,
  expectOption,
  idempotencyKeyOption,
  ledgerOptions,
  limitOption,
} from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';
import { loadCommands } from './load-commands.ts';
import { requestsCommands } from './requests/commands.ts';
import { scenarioCommands } from './scenario/commands.ts';
import { siteCommands } from './site-commands.ts';
import { userCommands } from './user-commands.ts';
import { webhooksCommands } from './webhooks/commands.ts';

const sendEvent = from(() => import('./send-event.ts'));
const relay = from(() => import('./relay.ts'));
const relayLimits = from(() => import('./relay-limits.ts'));
const relayUser = from(() => import('./relay-user.ts'));
const checkout = from(() => import('./checkout.ts'));

const AS = 'the user: an e-mail, the name of a demo user such as alice, or <platform>:<id>';
const EXAMPLES = `
Examples:
  rewards relay perks purchaseFor me 1 50 --as alice --permit
  rewards relay token transferWithAuthorization me 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 5 --as alice
  rewards relay token approve me 5 --as alice --expect 403:function_not_allowed

\`rewards relay call --help\` lists the options of a call. transferWithAuthorization with from, to and value
alone is signed here, for an hour.`;

const silent = () => option('--no-webhook', 'recorded, but no endpoint hears of it');
const cents = wholeNumberOf(0, Number.MAX_SAFE_INTEGER);
const SESSION = 'id of the session, the id of the checkout that made it, or latest';

/** In the order of the help, from the files of this folder and its rooms. */
const { users, wallet, streak, leaderboard, achievements, constraints, history } = userCommands;
const { receiver, site } = siteCommands;

export const talkCommands: Verbs = {
  'send-event': {
    summary: 'send one customer event and show the reward, or the reason for the refusal',
    description:
      'Sends one customer event. Brand and domain default to the first brand of the stack that runs here.',
    takes: [['[type]', 'event type, such as account_creation; --file may give it too']],
    options: [
      option('--user <email>', 'e-mail of the user who gets the reward'),
      brandOption('id or domain of the brand'),
      option('--domain <domain>', 'domain where the event happened', { env: 'REWARDS_DOMAIN' }),
      option('--source-url <url>', 'page on which the event happened'),
      option('--origin <origin>', 'Origin header, as a browser would send it', { parse: headerText }),
      option('--user-identifier <id>', 'e-mail or wallet address, in addition to --user'),
      option('--channel <id>', 'chat channel (metadata.channel_id)'),
      option('--skip-cooldown', 'ask to skip the cooldown (metadata.skip_cooldown)'),
      option(
        '--set <path=value>',
        'set a field; a value that is valid JSON is taken as JSON, any other as text; repeatable',
        {
          parse: gather,
        },
      ),
      option(
        '--set-string <path=value>',
        'set a field to text, even when the value looks like JSON; repeatable',
        {
          parse: gather,
        },
      ),
      option('--file <path>', 'JSON body to start from; - reads standard input'),
      expectOption('200, 4xx, 429:cooldown, 409:duplicate'),
      idempotencyKeyOption(),
      apiKeyOption('brand API key to send; - reads standard input'),
      option('--dry-run', 'say how it would be decided, and send nothing (emulator only)'),
      option('--at <time>', 'with --dry-run: as if the clock stood there, such as 2030-01-01T00:00:00Z'),
    ],
    help: `
Examples:
  rewards send-event account_creation --user alice@demo.example
  rewards send-event form_submit --user bob@demo.example --set metadata.form=contact
  rewards send-event account_creation --user alice@demo.example --expect 429:cooldown
  rewards send-event purchase --user alice@demo.example --dry-run`,
    run: sendEvent('sendEvent'),
  },
  relay: {
    summary: 'send a transaction on behalf of a user, without gas of their own',
    description:
      'Has the relay call a contract for a user. The emulator issues the token, as a login would. This command signs what the user’s own wallet would sign, with the emulator’s development keys, which the service does not have.',
    help: EXAMPLES,
    verbs: {
      // The default, so that people can leave the word out.
      call: {
        isDefault: true,
        summary: 'call a contract; the default when no other command is named',
        takes: [
          ['[contract]', 'token, perks, pointsSale or escrow; left out with --to and --data'],
          ['[function]', 'its name, such as purchaseFor, or its whole signature'],
          ['[args...]', 'one for each parameter; `me` stands for the user’s address'],
        ],
        options: [
          option('--as <user>', AS),
          option(
            '--token <token>',
            'access token, in place of one from the emulator; - reads standard input',
          ),
          option('--to <address>', 'contract to call'),
          option('--data <hex>', 'encoded call, for --to'),
          option('--value <wei>', 'native currency to send along'),
          option('--gas-limit <gas>', 'gas limit [default: an estimate]', { parse: wholeNumberOf(1, 1e9) }),
          option('--permit', 'sign a permit for the called contract and send it along'),
          option(
            '--permit-value <amount>',
            'RWT that the permit allows [default: the call’s maxPrice or amount]',
          ),
          option('--permit-deadline <duration>', 'how long the permit is valid', {
            parse: durationMs,
          }).default(3_600_000, '1h'),
          option('--origin <origin>', 'Origin header [default: the domain of the brand]', {
            parse: headerText,
          }),
          brandOption('id or domain of the brand whose domain the call comes from [default: the first]'),
          idempotencyKeyOption(),
          expectOption('200, 429:RATE_LIMIT_EXCEEDED, 403'),
        ],
        help: EXAMPLES,
        run: relay('relayCall'),
      },
      permit: {
        summary: 'sign a permit of a user, and print it',
        options: [
          option('--as <user>', AS).makeOptionMandatory(),
          option('--spender <contract>', 'a contract’s name, or an address').makeOptionMandatory(),
          option('--value <amount>', 'RWT that the permit allows').makeOptionMandatory(),
          option('--deadline <duration>', 'how long the permit is valid', { parse: durationMs }).default(
            3_600_000,
            '1h',
          ),
        ],
        help: '\nExample:\n  rewards relay permit --as alice --spender perks --value 100',
        run: relayUser('signPermit'),
      },
      status: {
        summary: 'show the state of a relayed call',
        takes: [['<hash>', 'its transaction hash']],
        run: relay('relayStatus'),
      },
      limits: {
        summary:
          'show what is used of the relay’s limits, whose gas is spent, and what its accounts have under way',
        description:
          'Users, addresses, payers and lanes, the busiest first. Works on the emulator that runs here, or with the address of a database on a production ledger.',
        options: [
          ...ledgerOptions(),
          option('--user <user>', 'only the window of this user: an e-mail, an address or <platform>:<id>'),
          limitOption('entries of each list, at most', { default: 20 }),
        ],
        run: relayLimits('showLimits'),
      },
    },
  },
  ...requestsCommands,
  users,
  wallet,
  streak,
  leaderboard,
  checkout: {
    summary: 'begin payments, and play the buyer, the bank and the merchant',
    description:
      'A checkout is paid on the page of the payment processor. The emulator has a processor of its own, with a page for each checkout below /_pay; all but create steer it and work on an emulator only.',
    verbs: {
      create: {
        summary: 'begin a payment that buys RWT for a brand; a dollar buys 1000',
        options: [
          option('--amount <cents>', 'US cents', { parse: cents }).makeOptionMandatory(),
          option('--user <email>', 'e-mail of the buyer').makeOptionMandatory(),
          brandOption(),
          option(
            '--success-url <url>',
            'where the buyer comes back to [default: a page of the brand’s domain]',
          ),
          option('--cancel-url <url>', 'the same for a buyer who does not pay'),
          option('--currency <code>', 'currency of the amount', { default: 'usd' }),
          idempotencyKeyOption(),
          expectOption('200, 400:invalid_event_data'),
        ],
        help: `
Examples:
  rewards checkout create --amount 500 --user alice@demo.example
  rewards checkout create --amount 2500 --user alice@demo.example -o json | jq -r .data.body.checkoutUrl`,
        run: checkout('createCheckout'),
      },
      pay: {
        summary: 'pay a checkout as its page would',
        takes: [['<session>', SESSION]],
        options: [
          silent(),
          option('--async', 'the payment arrives later, like a bank debit: complete, and unpaid until then'),
          option(
            '--delay <duration>',
            'how much later, on the clock of the emulator; the same as --async 1m',
            {
              parse: asGiven(durationMs),
            },
          ),
          option(
            '--decline [code]',
            'the payment fails with this code; with --async when it should arrive',
          ).preset('generic_decline'),
        ],
        help: `
Examples:
  rewards checkout pay latest
  rewards checkout pay latest --decline insufficient_funds
  rewards checkout pay cs_test_… --async --delay 2h && rewards clock advance 2h`,
        run: checkout('payCheckout'),
      },
      decline: {
        summary: 'try to pay with a card that is declined; the checkout stays open',
        takes: [['<session>', SESSION]],
        options: [silent(), option('--code <code>', 'decline code', { default: 'generic_decline' })],
        run: checkout('declineCheckout'),
      },
      expire: {
        summary: 'end an open checkout before its 24 hours are over',
        takes: [['<session>', SESSION]],
        options: [silent()],
        run: checkout('expireCheckout'),
      },
      refund: {
        summary: 'give a payment back, or a part of it',
        takes: [['<session>', SESSION]],
        options: [
          silent(),
          option('--amount <cents>', 'how much [default: all that is left]', { parse: cents }),
          option('--reason <reason>', 'why', {
            choices: ['duplicate', 'fraudulent', 'requested_by_customer'],
          }),
        ],
        run: checkout('refundCheckout'),
      },
      dispute: {
        summary: 'let the buyer’s bank ask the money back',
        takes: [['<session>', SESSION]],
        options: [silent(), option('--reason <reason>', 'why', { default: 'fraudulent' })],
        run: checkout('disputeCheckout'),
      },
      show: {
        summary: 'show how a checkout stands, and what its processor has told about it',
        takes: [['<session>', SESSION]],
        run: checkout('showCheckout'),
      },
      list: {
        summary: 'list the checkouts, the newest first',
        options: [
          option('--status <status>', 'only these', { choices: ['open', 'complete', 'expired'] }),
          option('--user <email>', 'only of this buyer'),
          option('--limit <n>', 'at most this many', { default: 20, parse: wholeNumberOf(1, 500) }),
        ],
        run: checkout('listCheckouts'),
      },
    },
  },
  achievements,
  ...loadCommands,
  ...scenarioCommands,
  ...webhooksCommands,
  receiver,
  site,
  constraints,
  'constraint-updater': siteCommands['constraint-updater'],
  history,
};
