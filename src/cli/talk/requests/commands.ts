/** `rewards requests`. */
import { InvalidArgumentError } from 'commander';
import { effectNames } from '../../../client/replay/effect-names.ts';
import { startSettings } from '../../../production/settings.ts';
import { durationMs, option, settingOption, wholeNumberOf } from '../../machine/options.ts';
import { ledgerOptions, limitOption } from '../../machine/shared-options.ts';
import { from, type Verbs } from '../../machine/verb.ts';

const requests = from(() => import('./requests.ts'));
const replay = from(() => import('./replay.ts'));
const diff = from(() => import('./diff.ts'));

const AN_ID = 'id, its beginning, or latest';

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

const filters = [
  option('--status <status>', 'only this status, such as 429 or 4xx'),
  option('--host <host>', 'only requests to this host: events, register, services, or relay'),
  option('--brand <id>', 'only events of this brand, and calls that it pays for'),
  option('--decision <code>', 'only what was decided so: rewarded, confirmed, cooldown, duplicate, …'),
  option('--path <part>', 'only paths that contain this text'),
  option('--method <method>', 'only this method'),
  option('--user <email>', 'only events of this user'),
];

export const requestsCommands: Verbs = {
  requests: {
    summary: 'show the latest requests, and the reason for each answer',
    description:
      'Shows the latest requests of the emulator or, with the address of a database, of a production service, without their bodies and with users as hashes. An id may be shortened to its beginning; `latest` names the last request.',
    verbs: {
      list: {
        summary: 'print the latest requests, newest first',
        options: [
          ...filters,
          limitOption('number of requests, at most', { default: 20 }),
          ...ledgerOptions(),
          settingOption(startSettings.walletsXpub),
        ],
        run: requests('listRequests'),
      },
      tail: {
        summary: 'print the latest requests, then each new one',
        options: [
          ...filters,
          limitOption('number of earlier requests', { default: 10, least: 0 }),
          ...ledgerOptions(),
          settingOption(startSettings.walletsXpub),
        ],
        run: requests('tailRequests'),
      },
      show: {
        summary: 'print a request with its bodies, and where its rewards are now',
        takes: [['<id>', AN_ID]],
        options: [
          option('--as <form>', 'print it in a form that sends the request again', {
            choices: ['curl', 'http', 'scenario'],
          }),
          option('--with-secrets', 'print the credential, in place of a variable such as $REWARDS_API_KEY'),
          ...ledgerOptions(),
        ],
        run: requests('showRequest'),
      },
      explain: {
        summary: 'print each check of an event, and when the event would pass',
        takes: [['<id>', AN_ID]],
        options: ledgerOptions(),
        help: `
Examples:
  rewards requests explain latest
  rewards requests explain req_8f21
  rewards clock advance --until req_8f21`,
        run: requests('explainRequest'),
      },
      replay: {
        summary: 'send a kept request again, and count what that brings about',
        takes: [['<id>', AN_ID]],
        options: [
          option('--times <n>', 'how often it is sent', { default: 1, parse: wholeNumberOf(1, 10_000) }),
          option('--concurrency <n>', 'so many at once', { default: 1, parse: wholeNumberOf(1, 200) }),
          option(
            '--diff',
            'compare each answer with the first one, and count rewards, mints, calls and webhooks',
          ),
          option('--new-id', 'send each with an idempotency key of its own, in place of the same key again'),
          option(
            '--expect-effects <effects>',
            'none, or counts such as rewards=1,webhooks=1; exit code 1 otherwise',
            { parse: expectedEffects },
          ),
          option('--watch <duration>', 'count once nothing has changed for so long', {
            default: 500,
            parse: durationMs,
          }).default(500, '500ms'),
          ...ledgerOptions(),
        ],
        help: `
The brand's key comes from REWARDS_API_KEY, else from the stack that runs here; a user's token is issued anew. What other
callers do at the same time counts as well.

Examples:
  rewards requests replay latest --times 5 --concurrency 5 --expect-effects none
  rewards requests replay req_8f21 --diff
  rewards requests replay req_8f21 --new-id --expect-effects rewards=1,rwtRewarded=100`,
        run: replay('replayRequest'),
      },
      diff: {
        summary: 'print where two requests differ: sent, answered, decided',
        takes: [
          ['<a>', AN_ID],
          ['<b>', AN_ID],
        ],
        options: ledgerOptions(),
        run: diff('diffRequests'),
      },
    },
  },
};
