/** Programs beside the service: the receiver, the updater of constraints, and the demo site. */
import { InvalidArgumentError } from 'commander';
import { hooks } from '../../site/plugin/hooks.ts';
import { durationMs, gather, httpUrl, option, port } from '../machine/options.ts';
import { apiKeyOption } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';

const receiver = from(() => import('./receiver.ts'));
const site = from(() => import('./site.ts'));
const constraintUpdater = from(() => import('./constraint-updater.ts'));

function durationList(text: string): number[] {
  const parts = text.split(',').filter(Boolean);
  if (parts.length > 10) throw new InvalidArgumentError('It must be at most ten durations.');
  return parts.map((part) => durationMs(part.trim()));
}

const SITE_USER = 'an e-mail, or a login of the site';
const NAME = 'login or e-mail of the user';

export const siteCommands = {
  receiver: {
    summary: "receive the payment processor's events, and pass paid sessions on to payment-mint",
    description:
      'The receiver that a brand needs between the payment processor and this service. It verifies each signature on the bytes as they came, passes the session of a completed checkout on to payment-mint, and answers 200 when payment-mint has answered; until then the processor keeps the event and sends it again. Other events are only logged. Beside a running `rewards serve` it registers itself with the emulated processor.',
    options: [
      option('-p, --port <n>', 'port to listen on; 0 for any free one', { default: 4242, parse: port }),
      option('--bind <address>', 'address to listen on', { default: '127.0.0.1' }),
      option('--forward-to <url>', "address of payment-mint [default: the running stack's]", {
        parse: httpUrl,
      }),
      option(
        '--secret <secret>',
        "the endpoint's signing secret at the processor, whsec_… [default: the running stack's]",
        {
          env: 'REWARDS_WEBHOOK_SECRET',
        },
      ),
      option('--retry-delays <durations>', 'pauses before payment-mint is asked again after a 500', {
        default: [2_000, 4_000, 8_000],
        parse: durationList,
      }).default([2_000, 4_000, 8_000], '2s,4s,8s'),
      // Processors wait for ten seconds and more; a later answer would count as none.
      option(
        '--answer-within <duration>',
        'after this a delivery is answered 503 while payment-mint is asked on',
        {
          default: 8_000,
          parse: durationMs,
        },
      ).default(8_000, '8s'),
      option('--no-register', 'leave the emulated processor of a running stack alone'),
    ],
    help: `
Examples:
  rewards receiver
  rewards receiver --secret whsec_… --forward-to https://events.example/rewards-api/payment-mint`,
    run: receiver('runReceiver'),
  },
  site: {
    summary: 'let things happen on the demo site, test its connection, add users (emulator only)',
    description:
      'The content site with the plugin, which `rewards serve` runs beside the service. It sends an event when something happens there, and shows users their streak, balance and perks.',
    verbs: {
      fire: {
        summary: 'let something happen on the site, and print what the service answered to each event',
        takes: [['<hook>', 'what happens: see the list below']],
        options: [
          option('--user <user>', `whom it is about: ${SITE_USER}`).makeOptionMandatory(),
          option('--set <metadata.field=value>', 'metadata that goes with the events; repeatable', {
            parse: gather,
          }),
        ],
        help: `
Hooks:
${Object.entries(hooks)
  .map(([hook, meaning]) => `  ${hook.padEnd(16)} ${meaning}`)
  .join('\n')}
  and those of your own that the settings of the site list

Examples:
  rewards site fire comment_posted --user alice@demo.example
  rewards site fire order_completed --user bob --set metadata.order_total=20 --set metadata.order_id=7
Exits 1 when an event was refused, and when no event was sent.`,
        run: site('fireHook'),
      },
      test: {
        summary: 'send a test event from the site, and say what to do about a failure',
        options: [
          option('--user <email>', "whose event it is [default: the site's first user]"),
          option('--event <name>', 'the event, exactly as the brand names it [default: one of the site]'),
        ],
        help: `
Examples:
  rewards site test
  rewards site test --user alice@demo.example --event social_share
Exits 1 when the service does not answer 200.`,
        run: site('testSite'),
      },
      user: {
        summary: 'the users of the site, and passwords of their programs',
        verbs: {
          list: { summary: 'show who can log in', run: site('listUsers') },
          add: {
            summary: 'add a user',
            takes: [
              ['<login>', '2 to 40 letters, digits, dots, hyphens and underscores'],
              ['<email>', "the one identity of the user: balance, streak and perks are this e-mail's"],
            ],
            options: [
              option('--display-name <name>', 'the name that pages show [default: the login]'),
              option('--password-file <path>', 'a file with the password; - reads standard input'),
              option('--role <role>', 'an administrator changes settings and publishes posts', {
                default: 'subscriber',
                choices: ['administrator', 'subscriber'],
              }),
            ],
            help: `
Without a password the user logs in nowhere, and only programs act for them (\`app-password\`).

Example:
  printf dora-in-demo | rewards site user add dora dora@demo.example --password-file -`,
            run: site('addUser'),
          },
          'app-password': {
            summary: "make a password for a user's programs; it is printed once",
            takes: [['<user>', NAME]],
            options: [option('--for <name>', 'what it is for', { default: 'command line' })],
            help: `
Example:
  curl -u "alice:$(rewards site user app-password alice)" -X POST http://127.0.0.1:8787/site/wp-json/rewards/v1/checkin`,
            run: site('addApplicationPassword'),
          },
        },
      },
    },
  },
  'constraint-updater': {
    summary:
      "take invalidations of constraint results on the brand's own host, and pass them on with its key",
    description:
      "What a brand puts beside its own systems, so that these need not know the brand's key: POST /invalidate-external-api takes the same body and gives the same answer as the service's endpoint. Callers may be asked for a key of their own.",
    options: [
      option('-p, --port <n>', 'port to listen on; 0 for any free one', { default: 4243, parse: port }),
      option('--bind <address>', 'address to listen on', { default: '127.0.0.1' }),
      option('--forward-to <url>', "address of the service's event handler [default: the running stack's]", {
        parse: httpUrl,
      }),
      apiKeyOption("brand API key [default: the running stack's]; - reads standard input"),
      option(
        '--caller-key-file <path>',
        'key that callers must send as a bearer token; without it, anybody may ask',
      ),
    ],
    help: `
Examples:
  rewards constraint-updater
  rewards constraint-updater --forward-to https://events.example --api-key-file key --caller-key-file caller-key`,
    run: constraintUpdater('runConstraintUpdater'),
  },
} satisfies Verbs;
