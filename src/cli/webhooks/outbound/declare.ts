/** `rewards webhooks endpoints|deliveries`: names, arguments and options. */
import type { Command } from 'commander';
import { webhookTypes } from '../../../rules/webhooks/body.ts';
import { asGiven, durationMs, option, wholeNumberOf } from '../../machine/options.ts';
import { ledgerOptions } from '../../machine/setting-options.ts';
import type { Catalog } from '../../machine/verb.ts';

const BRAND = 'its id or one of its domains';
const ENDPOINT = 'id of the endpoint, or latest';
const TYPES = `some of ${webhookTypes.join(', ')}, with commas; or all`;
const WHERE =
  'Works on the emulator that runs here, or with the address of a database on a production ledger; a running service notices by itself.';

const verbOf = (group: Command) => (name: string, summary: string) => {
  const made = group.command(name).summary(summary);
  for (const one of ledgerOptions()) made.addOption(one);
  return made;
};

export function declareEndpoints({ parent, lazily }: Catalog): void {
  const group = parent
    .command('endpoints')
    .summary('where a brand is told of its rewards: add, change, remove, and send what was missed')
    .description(WHERE);
  const verb = verbOf(group);
  verb('list', 'print the endpoints, without their secrets')
    .addOption(option('--brand <brand>', `${BRAND} [default: all brands]`))
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).listEndpoints));
  verb('add', 'add an endpoint; prints its signing secret, once')
    .usage('[options] [brand] <url>')
    .argument('[brand]', `${BRAND}; may be left out where there is one brand`)
    .argument('[url]', 'where the brand listens; HTTPS in production')
    .addOption(option('--types <types>', TYPES, { default: 'all' }))
    .addHelpText(
      'after',
      `
Examples:
  rewards webhooks endpoints add https://shop.example/hooks/rewards
  rewards webhooks endpoints add shop.example https://crm.example/in --types reward.distributed`,
    )
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).addEndpoint));
  verb('set', 'change the URL or the types of an endpoint, or turn it off')
    .argument('<id>', ENDPOINT)
    .argument('<setting=value...>', 'url, types, enabled')
    .addHelpText(
      'after',
      '\nExample:\n  rewards webhooks endpoints set we_… types=reward.distributed enabled=off',
    )
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).setEndpoint));
  verb('remove', 'remove an endpoint, with what was still to go there')
    .argument('<id>', ENDPOINT)
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).removeEndpoint));
  verb('enable', 'turn an endpoint on again; what was held goes out with `recover`')
    .argument('<id>', ENDPOINT)
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).enableEndpoint));
  verb('rotate-secret', 'print a new signing secret, once; the present one signs beside it for a while')
    .argument('<id>', ENDPOINT)
    .addOption(
      option('--overlap <duration>', 'how long the present secret signs as well', {
        default: '24h',
        parse: (text: string) => (text === '0' ? text : asGiven(durationMs)(text)),
      }),
    )
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).rotateSecret));
  verb(
    'recover',
    'send what an endpoint missed: what was held while it was off, what failed, and what waits for a later attempt',
  )
    .argument('<id>', ENDPOINT)
    .requiredOption('--since <time>', 'from when on: 2030-01-01T00:00:00Z, or a duration such as 5d')
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).recoverEndpoint));
}

export function declareDeliveries({ parent, lazily }: Catalog): void {
  const group = parent
    .command('deliveries')
    .summary('what the service has told brands, and what each attempt was answered')
    .description(`${WHERE} The log keeps 30 days.`);
  const verb = verbOf(group);
  verb('list', 'print deliveries, the newest event first')
    .addOption(option('--brand <brand>', BRAND))
    .addOption(option('--endpoint <id>', ENDPOINT))
    .addOption(
      option('--state <state>', 'only those in this state', {
        choices: ['waiting', 'held', 'failed', 'delivered'],
      }),
    )
    .addOption(
      option('-n, --limit <n>', 'number of deliveries, at most', {
        default: 20,
        parse: wholeNumberOf(1, 500),
      }),
    )
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).listDeliveries));
  verb('show', 'print one event with its body and each attempt')
    .argument('<id>', 'id of the event, evt_…, or latest')
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).showDelivery));
  verb('replay', 'send one event once more, under its id')
    .argument('<id>', 'id of the event, evt_…, or latest')
    .addOption(option('--endpoint <id>', 'only to this endpoint [default: all that it went to]'))
    .action(lazily(async () => (await import('../../talk/webhooks/endpoints.ts')).replayDelivery));
}
