/** `rewards logs`: its options. */

import { option, settingOption, wholeNumberOf } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';
import { serveSettings } from '../run/serve-settings.ts';

export function declareLogs({ parent, lazily }: Catalog): void {
  const logs = parent
    .command('logs')
    .summary('print what a stack has logged and answered')
    .description(
      'Prints the end of the log that every `rewards serve` keeps in its data folder: starts, stops, messages of its log level, and each request. It works for a stack in the background, one at another terminal, and one that has ended; an ephemeral stack takes its log with it. The file begins anew at 10 MB, and the one before it is kept.',
    )
    .addOption(option('-f, --follow', 'go on with each new line until the stack ends, or a signal'))
    .addOption(
      option('--lines <n>', 'at most this many lines of the past', {
        default: 100,
        parse: wholeNumberOf(0, 100_000),
      }),
    );
  for (const row of serveSettings)
    if (row.flag.startsWith('--persist-to')) logs.addOption(settingOption(row));
  logs.action(lazily(async () => (await import('../around/logs.ts')).logs));
}
