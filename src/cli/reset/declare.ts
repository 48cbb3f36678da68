/** `rewards reset`: its options. */

import { option, settingOption } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';
import { serveSettings } from '../run/serve-settings.ts';

export function declareReset({ parent, lazily }: Catalog): void {
  const reset = parent
    .command('reset')
    .summary('begin anew, in place while the stack runs; else delete its data for the next `serve`')
    .description(
      'A stack that runs is brought back to what its seed files say, under the same addresses. Of a stopped one, ledger, chain and site are deleted. Asks first. Snapshots are kept.',
    )
    .addOption(option('-y, --yes', 'do not ask'))
    .addOption(option('--keep <what>', 'what a running stack keeps', { choices: ['clock'] }));
  for (const row of serveSettings)
    if (row.flag.startsWith('--persist-to')) reset.addOption(settingOption(row));
  reset.action(lazily(async () => (await import('../emulator/reset.ts')).reset));
}
