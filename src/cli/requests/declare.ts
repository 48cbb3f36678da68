/** `rewards requests`: names, arguments and options. */

import { startSettings } from '../../production/settings.ts';
import type { Catalog } from '../machine/catalog.ts';
import { option, settingOption, wholeNumberOf } from '../machine/options.ts';
import { ledgerOptions } from '../start/options.ts';

export function declareRequests({ parent, lazily }: Catalog): void {
  const requests = parent
    .command('requests')
    .summary('show the latest requests, and the reason for each answer')
    .description(
      'Shows the latest requests of the emulator or, with the address of a database, of a production service, without their bodies and with users as hashes. An id may be shortened to its beginning; `latest` names the last request.',
    );
  const filters = [
    option('--status <status>', 'only this status, such as 429 or 4xx'),
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
    .action(lazily(async () => (await import('./run.ts')).listRequests));
  tail
    .addOption(
      option('-n, --limit <n>', 'number of earlier requests', { default: 10, parse: wholeNumberOf(0, 500) }),
    )
    .action(lazily(async () => (await import('./run-tail.ts')).tailRequests));
  const show = requests
    .command('show')
    .summary('print a request with its bodies, and where its rewards are now')
    .argument('<id>', 'id, its beginning, or latest')
    .addOption(
      option('--as <form>', 'print it as a command that sends the request again', { choices: ['curl'] }),
    )
    .action(lazily(async () => (await import('./run.ts')).showRequest));
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
    .action(lazily(async () => (await import('./run.ts')).explainRequest));
  for (const verb of [list, tail, show, explain]) for (const one of ledgerOptions()) verb.addOption(one);
  for (const verb of [list, tail]) verb.addOption(settingOption(startSettings.walletsXpub));
}
