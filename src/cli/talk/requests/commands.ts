/** `rewards requests`: names, arguments and options. */

import { InvalidArgumentError } from 'commander';
import { startSettings } from '../../../production/settings.ts';
import { durationMs, option, settingOption, wholeNumberOf } from '../../machine/options.ts';
import { ledgerOptions } from '../../machine/setting-options.ts';
import type { Catalog } from '../../machine/verb.ts';
import { effectNames } from './effect-names.ts';

export function declareRequests({ parent, lazily }: Catalog): void {
  const requests = parent
    .command('requests')
    .summary('show the latest requests, and the reason for each answer')
    .description(
      'Shows the latest requests of the emulator or, with the address of a database, of a production service, without their bodies and with users as hashes. An id may be shortened to its beginning; `latest` names the last request.',
    );
  const filters = [
    option('--status <status>', 'only this status, such as 429 or 4xx'),
    option('--host <host>', 'only requests to this host: events, register, services, or relay'),
    option('--brand <id>', 'only events of this brand, and calls that it pays for'),
    option('--decision <code>', 'only what was decided so: rewarded, confirmed, cooldown, duplicate, …'),
    option('--path <part>', 'only paths that contain this text'),
    option('--method <method>', 'only this method'),
    option('--user <email>', 'only events of this user'),
  ];
  const list = requests.command('list').summary('print the latest requests, newest first');
  const tail = requests.command('tail').summary('print the latest requests, then each new one');
  for (const filter of filters) {
    list.addOption(filter);
    tail.addOption(filter);
  }
  list
    .addOption(
      option('-n, --limit <n>', 'number of requests, at most', { default: 20, parse: wholeNumberOf(1, 500) }),
    )
    .action(lazily(async () => (await import('./requests.ts')).listRequests));
  tail
    .addOption(
      option('-n, --limit <n>', 'number of earlier requests', { default: 10, parse: wholeNumberOf(0, 500) }),
    )
    .action(lazily(async () => (await import('./requests.ts')).tailRequests));
  const show = requests
    .command('show')
    .summary('print a request with its bodies, and where its rewards are now')
    .argument('<id>', 'id, its beginning, or latest')
    .addOption(
      option('--as <form>', 'print it in a form that sends the request again', {
        choices: ['curl', 'http', 'scenario'],
      }),
    )
    .addOption(
      option('--with-secrets', 'print the credential, in place of a variable such as $REWARDS_API_KEY'),
    )
    .action(lazily(async () => (await import('./requests.ts')).showRequest));
  const explain = requests
    .command('explain')
    .summary('print each check of an event, and when the event would pass')
    .argument('<id>', 'id, its beginning, or latest')
    .addHelpText(
      'after',
      `
Examples:
  rewards requests explain latest
  rewards requests explain req_8f21
  rewards clock advance --until req_8f21`,
    )
    .action(lazily(async () => (await import('./requests.ts')).explainRequest));
  const again = [declareReplay({ parent: requests, lazily }), declareDiff({ parent: requests, lazily })];
  for (const verb of [list, tail, show, explain, ...again])
    for (const one of ledgerOptions()) verb.addOption(one);
  for (const verb of [list, tail]) verb.addOption(settingOption(startSettings.walletsXpub));
}

const anId = 'id, its beginning, or latest';

const declareReplay = ({ parent, lazily }: Catalog) =>
  parent
    .command('replay')
    .summary('send a kept request again, and count what that brings about')
    .argument('<id>', anId)
    .addOption(option('--times <n>', 'how often it is sent', { default: 1, parse: wholeNumberOf(1, 10_000) }))
    .addOption(option('--concurrency <n>', 'so many at once', { default: 1, parse: wholeNumberOf(1, 200) }))
    .addOption(
      option(
        '--diff',
        'compare each answer with the first one, and count rewards, mints, calls and webhooks',
      ),
    )
    .addOption(
      option('--new-id', 'send each with an idempotency key of its own, in place of the same key again'),
    )
    .addOption(
      option(
        '--expect-effects <effects>',
        'none, or counts such as rewards=1,webhooks=1; exit code 1 otherwise',
        { parse: expectedEffects },
      ),
    )
    .addOption(
      option('--watch <duration>', 'count once nothing has changed for so long', {
        default: 500,
        parse: durationMs,
      }).default(500, '500ms'),
    )
    .addHelpText(
      'after',
      `
The brand's key comes from REWARDS_API_KEY, else from the stack that runs here; a user's token is issued anew. What other
callers do at the same time counts as well.

Examples:
  rewards requests replay latest --times 5 --concurrency 5 --expect-effects none
  rewards requests replay req_8f21 --diff
  rewards requests replay req_8f21 --new-id --expect-effects rewards=1,rwtRewarded=100`,
    )
    .action(lazily(async () => (await import('./replay.ts')).replayRequest));

const declareDiff = ({ parent, lazily }: Catalog) =>
  parent
    .command('diff')
    .summary('print where two requests differ: sent, answered, decided')
    .argument('<a>', anId)
    .argument('<b>', anId)
    .action(lazily(async () => (await import('./diff.ts')).diffRequests));

function expectedEffects(text: string): 'none' | Record<string, number> {
  if (text === 'none') return 'none';
  const parts = text.split(',').map((part) => /^(\w+)=(\d{1,12})$/.exec(part.trim()));
  const wrong = parts.some((part) => part === null || !effectNames.some((name) => name === part[1]));
  if (wrong)
    throw new InvalidArgumentError(
      `It must be none, or counts such as rewards=1: of ${effectNames.join(', ')}.`,
    );
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? '', Number(part?.[2])]));
}
