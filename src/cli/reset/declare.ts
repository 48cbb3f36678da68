/** `rewards reset`: its options. */
import type { Catalog } from '../machine/catalog.ts';
import { option, settingOption } from '../machine/options.ts';
import { serveSettings } from '../serve/settings.ts';

export function declareReset({ parent, lazily }: Catalog): void {
  const reset = parent
    .command('reset')
    .summary('delete the data of the stack, so that the next `serve` begins anew')
    .description(
      'Deletes what `rewards serve` keeps: ledger and chain. Asks first, and refuses while the stack runs.',
    )
    .addOption(option('-y, --yes', 'do not ask'));
  for (const row of serveSettings)
    if (row.flag.startsWith('--persist-to')) reset.addOption(settingOption(row));
  reset.action(lazily(async () => (await import('./run.ts')).reset));
}
