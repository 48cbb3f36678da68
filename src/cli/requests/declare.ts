/** `rewards requests`: names, arguments and options. */

import type { Catalog } from '../machine/catalog.ts';
import { option, wholeNumberOf } from '../machine/options.ts';

export function declareRequests({ parent, lazily }: Catalog): void {
  const requests = parent
    .command('requests')
    .summary('look back on what the emulator was asked, and why it answered so')
    .description(
      'The latest requests of the emulator. An id may be shortened to its beginning; `latest` names the last one.',
    );
  const filters = [
    option('--status <status>', 'only these, such as 429 or 4xx'),
    option('--path <part>', 'only paths with this in them'),
    option('--method <method>', 'only this method'),
    option('--user <email>', 'only events of this user'),
  ];
  const list = requests.command('list').summary('print the latest ones, newest first');
  const tail = requests.command('tail').summary('print the latest ones, then each as it comes');
  for (const filter of filters) {
    list.addOption(filter);
    tail.addOption(filter);
  }
  list
    .addOption(option('-n, --limit <n>', 'at most so many', { default: 20, parse: wholeNumberOf(1, 500) }))
    .action(lazily(async () => (await import('./run.ts')).listRequests));
  tail
    .addOption(
      option('-n, --limit <n>', 'so many to begin with', { default: 10, parse: wholeNumberOf(0, 500) }),
    )
    .action(lazily(async () => (await import('./run-tail.ts')).tailRequests));
  requests
    .command('show')
    .summary('print one with its bodies')
    .argument('<id>', 'id, its beginning, or latest')
    .addOption(option('--as <form>', 'as a command that sends it again', { choices: ['curl'] }))
    .action(lazily(async () => (await import('./run.ts')).showRequest));
  requests
    .command('explain')
    .summary('print each check of an event, and when it would pass')
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
}
