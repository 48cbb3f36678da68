/** `rewards webhooks list|show|replay|send|listen`: names, arguments and options. */
import { type Command, InvalidArgumentError } from 'commander';
import { durationMs, gather, httpUrl, option, port, wholeNumberOf } from '../../machine/options.ts';
import type { Catalog } from '../../machine/verb.ts';

const fromFile = () =>
  option('--from <file>', 'a file with events as the processor exports them: one, a list, or one a line');
const ofType = () => option('--type <type>', 'only this type, such as checkout.session.completed');

export function declareEvents({ parent, lazily }: Catalog): void {
  parent
    .command('list')
    .summary("print the payment processor's latest events and where they went, newest first")
    .addOption(fromFile())
    .addOption(ofType())
    .addOption(option('--object <id>', 'only events about this session, payment or charge'))
    .addOption(
      option('-n, --limit <n>', 'number of events, at most', { default: 20, parse: wholeNumberOf(1, 500) }),
    )
    .action(lazily(async () => (await import('./list.ts')).listEvents));
  parent
    .command('show')
    .summary('print an event and each attempt to deliver it')
    .argument('<event>', 'id, its beginning with --from, or latest')
    .addOption(fromFile())
    .action(lazily(async () => (await import('./list.ts')).showEvent));
  const replay = parent
    .command('replay')
    .summary('deliver recorded events again, as often and as badly as wished, and count what they do')
    .argument('[events...]', 'ids of `webhooks list`, or latest; with --from all of the file')
    .addOption(fromFile())
    .addOption(ofType());
  for (const one of sendingOptions()) replay.addOption(one);
  replay
    .addHelpText(
      'after',
      `
Mints are counted on the chain of the stack that runs here; elsewhere in the answers of payment-mint. The exit code is 1
when they are not as --expect-effects says, and when a session was minted twice.

Examples:
  rewards webhooks replay latest --times 3 --concurrency 3 --expect-effects none
  rewards webhooks replay --from events.ndjson --reorder shuffle:7 --to https://shop.example/hook --secret whsec_…
  rewards webhooks replay latest --tamper body --expect-effects none`,
    )
    .action(lazily(async () => (await import('./replay.ts')).replayEvents));
  declareSend({ parent, lazily });
  declareListen({ parent, lazily });
}

function declareSend({ parent, lazily }: Catalog): void {
  const send: Command = parent
    .command('send')
    .summary('send a signed event of your own making')
    .addOption(option('--type <type>', 'such as checkout.session.completed'))
    .addOption(option('--file <file>', 'an event as JSON to begin with; - reads it from standard input'))
    .addOption(option('--set <path=value>', 'set a field, as JSON where it is JSON', { parse: gather }))
    .addOption(option('--set-string <path=text>', 'set a field to a text', { parse: gather }));
  for (const one of sendingOptions()) send.addOption(one);
  send
    .addHelpText(
      'after',
      `
Examples:
  rewards webhooks send --type checkout.session.completed --set data.object.id=cs_test_1
  rewards webhooks send --file event.json --set data.object.amount_total=1 --expect-effects none`,
    )
    .action(lazily(async () => (await import('./send.ts')).sendEvent));
}

function declareListen({ parent, lazily }: Catalog): void {
  parent
    .command('listen')
    .summary("print the emulated processor's events as they come, and pass them on to your receiver")
    .addOption(
      option('--forward-to <url>', 'address of your receiver [default: none, events are only printed]', {
        parse: httpUrl,
      }),
    )
    .addOption(
      option('--events <types>', 'only these types, with commas between them [default: all]', {
        parse: words,
      }),
    )
    .addOption(
      option('-p, --port <n>', 'port on which events come in', { default: 0, parse: port }).default(0, 'any'),
    )
    .addOption(option('--print-secret', 'print the signing secret, the same for each run here, and end'))
    .addHelpText(
      'after',
      `
Examples:
  rewards webhooks listen --forward-to http://localhost:3000/hook
  export WEBHOOK_SECRET=$(rewards webhooks listen --print-secret)`,
    )
    .action(lazily(async () => (await import('./listen.ts')).listenForEvents));
}

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
