/** `rewards webhooks`. */
import { InvalidArgumentError } from 'commander';
import { webhookTypes } from '../../../rules/webhook-body.ts';
import {
  durationMs,
  gather,
  headerText,
  httpUrl,
  instantMs,
  option,
  port,
  wholeNumberOf,
} from '../../machine/options.ts';
import { BRAND, ledgerOptions, limitOption, overlapOption } from '../../machine/shared-options.ts';
import { from, type Verbs } from '../../machine/verb.ts';

const list = from(() => import('./list.ts'));
const replay = from(() => import('./replay.ts'));
const send = from(() => import('./send.ts'));
const listen = from(() => import('./listen.ts'));
const endpoints = from(() => import('./endpoints.ts'));
const inbox = from(() => import('./inbox.ts'));
const signatures = from(() => import('./signatures.ts'));
const delivered = from(() => import('./delivery-signature.ts'));

const fromFile = () =>
  option('--from <file>', 'a file with events as the processor exports them: one, a list, or one a line');

const ofType = () => option('--type <type>', 'only this type, such as checkout.session.completed');
const sendingOptions = () => [
  option('--to <url>', "address of the receiver [default: the running stack's payment-mint]", {
    parse: httpUrl,
  }),
  option('--secret <secret>', 'signing secret [default: that of the endpoint with this address]', {
    env: 'REWARDS_WEBHOOK_SECRET',
  }),
  option('--times <n>', 'how often each event is delivered', { default: 1, parse: wholeNumberOf(1, 10_000) }),
  option('--concurrency <n>', 'deliveries at once', { default: 1, parse: wholeNumberOf(1, 200) }),
  option('--reorder <order>', 'reverse, shuffle, or shuffle:<seed> for the same order again', {
    parse: order,
  }),
  option('--delay <duration>', 'wait between signing and sending', { default: 0, parse: durationMs }).default(
    0,
    'none',
  ),
  option('--stale', 'sign for ten minutes ago'),
  option('--future', 'sign for ten minutes ahead'),
  option('--tamper <part>', 'change this after signing', { choices: ['body', 'signature', 'timestamp'] }),
  option('--new-id', 'give each delivery an event id of its own'),
  option('--same-id', 'let all deliveries of an event have its id, as the processor does').conflicts('newId'),
  option('--expect-effects <mints>', 'number of mints that must follow, or none; exit 1 otherwise', {
    parse: effects,
  }),
  option('--watch <duration>', 'after the last answer, wait before mints are counted', {
    default: 500,
    parse: durationMs,
  }).default(500, '500ms'),
];

function order(text: string): { kind: 'reverse' } | { kind: 'shuffle'; seed?: number } {
  if (text === 'reverse') return { kind: 'reverse' };
  const [, seed] = /^shuffle(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (/^shuffle(:|$)/.test(text) && (seed !== undefined || text === 'shuffle'))
    return { kind: 'shuffle', ...(seed !== undefined && { seed: Number(seed) }) };
  throw new InvalidArgumentError('It must be reverse, shuffle, or shuffle:<seed> with a whole number.');
}

function effects(text: string): number {
  if (text === 'none') return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be none, or a number of mints.');
}

function words(text: string): string[] {
  const types = text.split(',').map((word) => word.trim());
  if (types.every((type) => /^[a-z_]+(\.[a-z_]+)+$|^\*$/.test(type))) return types;
  throw new InvalidArgumentError(
    'It must be types of events, such as checkout.session.completed,charge.refunded.',
  );
}

const ENDPOINT = 'id of the endpoint, or latest';
const TYPES = `some of ${webhookTypes.join(', ')}, with commas; or all`;
const WHERE =
  'Works on the emulator that runs here, or with the address of a database on a production ledger; a running service notices by itself.';

/** Seconds since 1970 from either writing. */
function secondsOrInstant(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  try {
    return Math.floor(instantMs(text) / 1_000);
  } catch {
    throw new InvalidArgumentError('It must be seconds since 1970, or a time such as 2030-01-01T00:00:00Z.');
  }
}

const secretOption = () =>
  option('--secret <secret>', "signing secret, whsec_… [default: the running stack's processor]", {
    env: 'REWARDS_WEBHOOK_SECRET',
  });

export const webhooksCommands: Verbs = {
  webhooks: {
    summary: 'look at webhooks, tell brands where they go, deliver them again, sign and verify them',
    description:
      'Events that the payment processor sends, and those that the service sends to brands. Both are signed; what a receiver must check is the bytes as they came.',
    verbs: {
      list: {
        summary: "print the payment processor's latest events and where they went, newest first",
        options: [
          fromFile(),
          ofType(),
          option('--object <id>', 'only events about this session, payment or charge'),
          limitOption('number of events, at most', { default: 20 }),
        ],
        run: list('listEvents'),
      },
      show: {
        summary: 'print an event and each attempt to deliver it',
        takes: [['<event>', 'id, its beginning with --from, or latest']],
        options: [fromFile()],
        run: list('showEvent'),
      },
      replay: {
        summary: 'deliver recorded events again, as often and as badly as wished, and count what they do',
        takes: [['[events...]', 'ids of `webhooks list`, or latest; with --from all of the file']],
        options: [fromFile(), ofType(), ...sendingOptions()],
        help: `
Mints are counted on the chain of the stack that runs here; elsewhere in the answers of payment-mint. The exit code is 1
when they are not as --expect-effects says, and when a session was minted twice.

Examples:
  rewards webhooks replay latest --times 3 --concurrency 3 --expect-effects none
  rewards webhooks replay --from events.ndjson --reorder shuffle:7 --to https://shop.example/hook --secret whsec_…
  rewards webhooks replay latest --tamper body --expect-effects none`,
        run: replay('replayEvents'),
      },
      send: {
        summary: 'send a signed event of your own making',
        options: [
          option('--type <type>', 'such as checkout.session.completed'),
          option('--file <file>', 'an event as JSON to begin with; - reads it from standard input'),
          option('--set <path=value>', 'set a field, as JSON where it is JSON', { parse: gather }),
          option('--set-string <path=text>', 'set a field to a text', { parse: gather }),
          ...sendingOptions(),
        ],
        help: `
Examples:
  rewards webhooks send --type checkout.session.completed --set data.object.id=cs_test_1
  rewards webhooks send --file event.json --set data.object.amount_total=1 --expect-effects none`,
        run: send('sendEvent'),
      },
      listen: {
        summary: "print the emulated processor's events as they come, and pass them on to your receiver",
        options: [
          option('--forward-to <url>', 'address of your receiver [default: none, events are only printed]', {
            parse: httpUrl,
          }),
          option('--events <types>', 'only these types, with commas between them [default: all]', {
            parse: words,
          }),
          option('-p, --port <n>', 'port on which events come in', { default: 0, parse: port }).default(
            0,
            'any',
          ),
          option('--print-secret', 'print the signing secret, the same for each run here, and end'),
        ],
        help: `
Examples:
  rewards webhooks listen --forward-to http://localhost:3000/hook
  export WEBHOOK_SECRET=$(rewards webhooks listen --print-secret)`,
        run: listen('listenForEvents'),
      },
      endpoints: {
        summary: 'where a brand is told of its rewards: add, change, remove, and send what was missed',
        description: WHERE,
        verbs: {
          list: {
            summary: 'print the endpoints without their secrets, newest first',
            options: [
              ...ledgerOptions(),
              option('--brand <brand>', `${BRAND} [default: all brands]`),
              option('--after <id>', 'only those that come after this one, which was listed last'),
              limitOption('number of endpoints, at most', { default: 50 }),
            ],
            run: endpoints('listEndpoints'),
          },
          show: {
            summary: 'print one endpoint, and how its newest deliveries stand',
            takes: [['<id>', ENDPOINT]],
            options: ledgerOptions(),
            run: endpoints('showEndpoint'),
          },
          add: {
            summary: 'add an endpoint; prints its signing secret, once',
            usage: '[options] [brand] <url>',
            takes: [
              ['[brand]', `${BRAND}; may be left out where there is one brand`],
              ['[url]', 'where the brand listens; HTTPS in production'],
            ],
            options: [...ledgerOptions(), option('--types <types>', TYPES, { default: 'all' })],
            help: `
Examples:
  rewards webhooks endpoints add https://shop.example/hooks/rewards
  rewards webhooks endpoints add shop.example https://crm.example/in --types reward.distributed`,
            run: endpoints('addEndpoint'),
          },
          set: {
            summary: 'change the URL or the types of an endpoint, or turn it off',
            takes: [
              ['<id>', ENDPOINT],
              ['<setting=value...>', 'url, types, enabled'],
            ],
            options: ledgerOptions(),
            help: '\nExample:\n  rewards webhooks endpoints set we_… types=reward.distributed enabled=off',
            run: endpoints('setEndpoint'),
          },
          remove: {
            summary: 'remove an endpoint, with what was still to go there',
            takes: [['<id>', ENDPOINT]],
            options: ledgerOptions(),
            run: endpoints('removeEndpoint'),
          },
          enable: {
            summary: 'turn an endpoint on again; what was held goes out with `recover`',
            takes: [['<id>', ENDPOINT]],
            options: ledgerOptions(),
            run: endpoints('enableEndpoint'),
          },
          'rotate-secret': {
            summary: 'print a new signing secret, once; the present one signs beside it for a while',
            takes: [['<id>', ENDPOINT]],
            options: [...ledgerOptions(), overlapOption('how long the present secret signs as well')],
            run: endpoints('rotateSecret'),
          },
          recover: {
            summary:
              'send what an endpoint missed: what was held while it was off, what failed, and what waits for a later attempt',
            takes: [['<id>', ENDPOINT]],
            options: [
              ...ledgerOptions(),
              option(
                '--since <time>',
                'from when on: 2030-01-01T00:00:00Z, or a duration such as 5d',
              ).makeOptionMandatory(),
            ],
            run: endpoints('recoverEndpoint'),
          },
        },
      },
      deliveries: {
        summary: 'what the service has told brands, and what each attempt was answered',
        description: `${WHERE} The log keeps 30 days.`,
        verbs: {
          list: {
            summary: 'print deliveries, the newest event first',
            options: [
              ...ledgerOptions(),
              option('--brand <brand>', BRAND),
              option('--endpoint <id>', ENDPOINT),
              option('--state <state>', 'only those in this state', {
                choices: ['waiting', 'held', 'failed', 'delivered'],
              }),
              option('--type <type>', 'only of this type', { choices: [...webhookTypes] }),
              option(
                '--subject <ids>',
                'only about these: ids of rewards or redemptions, sessions of payments',
              ),
              limitOption('number of deliveries, at most', { default: 20 }),
            ],
            run: endpoints('listDeliveries'),
          },
          show: {
            summary: 'print one event with its body and each attempt',
            takes: [['<id>', 'id of the event, evt_…, or latest']],
            options: ledgerOptions(),
            run: endpoints('showDelivery'),
          },
          signature: {
            summary:
              'take the signatures of one event apart: what is signed, each header, what a verifier sees',
            takes: [['<id>', 'id of the event, evt_…, or latest']],
            options: [
              ...ledgerOptions(),
              option('--at <time>', 'when the verifier looks, such as 2030-01-01T00:00:00Z [default: now]'),
            ],
            run: delivered('showSignature'),
          },
          replay: {
            summary: 'send one event once more, under its id',
            takes: [['<id>', 'id of the event, evt_…, or latest']],
            options: [
              ...ledgerOptions(),
              option('--endpoint <id>', 'only to this endpoint [default: all that it went to]'),
            ],
            run: endpoints('replayDelivery'),
          },
        },
      },
      inbox: {
        summary: "print what the emulator's built-in receiver got, and whether the signatures are right",
        description:
          "The demo brand's webhooks go to a receiver inside the emulator, which verifies each and keeps the latest. Every sender may post to it: its address is <control>/inbox of the ready line.",
        options: [
          limitOption('number of deliveries, at most', { default: 20, least: 0 }),
          option('-f, --follow', 'print each new delivery until it is stopped', { default: false }),
        ],
        help: `
Examples:
  rewards webhooks inbox -o json
  rewards webhooks inbox --follow`,
        run: inbox('showInbox'),
      },
      sign: {
        summary: "print a body's signatures, as the payment processor and this service make them",
        takes: [['<file>', 'the body; - reads it from standard input']],
        options: [
          secretOption(),
          option('--timestamp <time>', 'when it was signed: seconds since 1970, or 2030-01-01T00:00:00Z', {
            parse: secondsOrInstant,
          }).default(undefined, 'now'),
          option('--id <id>', "id of the message [default: the body's own]", { parse: headerText }),
          option('--scheme <scheme>', 'only the headers of one side', { choices: ['processor', 'service'] }),
        ],
        help: `
Examples:
  rewards webhooks sign --secret whsec_… event.json
  rewards webhooks sign --secret whsec_… --scheme processor event.json > headers
  curl -H @headers --data-binary @event.json https://shop.example/hook`,
        run: signatures('signBody'),
      },
      verify: {
        summary: 'say whether a signature verifies; --explain says which part of it fails',
        takes: [['<file>', 'the body, byte for byte as it came; - reads it from standard input']],
        options: [
          secretOption(),
          option(
            '-H, --header <header>',
            "a header that came with it, such as 'Stripe-Signature: t=…,v1=…'; several for Standard Webhooks",
            { parse: gather },
          ),
          option('--signature <value>', 'the signature alone; its form tells the scheme'),
          option('--tolerance <duration>', 'how old or how far ahead its timestamp may be', {
            default: 300_000,
            parse: durationMs,
          }).default(300_000, '5m'),
          option('--at <time>', 'when it came, such as 2030-01-01T00:00:00Z', { parse: instantMs }).default(
            undefined,
            'now',
          ),
          option('--explain', 'each part: scheme, secret, body, timestamp', { default: false }),
        ],
        help: `
Examples:
  rewards webhooks verify --secret whsec_… -H 'Stripe-Signature: t=…,v1=…' event.json --explain
  rewards webhooks verify --secret whsec_… --signature 5257a869… body.json`,
        run: signatures('verifyBody'),
      },
    },
  },
};
