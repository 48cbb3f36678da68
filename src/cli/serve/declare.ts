/** `rewards serve`: its options. */
import type { Option } from 'commander';
import { option, settingOption } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';
import { serveSettings } from '../run/serve-settings.ts';

const serveOptions = (): Option[] => serveSettings.map(settingOption);

export function declareServe({ parent, lazily }: Catalog): void {
  const serve = parent
    .command('serve')
    .summary('run the whole service here, with its own chain and an adjustable clock')
    .description(
      'Runs the whole service on this machine, with its chain, until it is stopped. Other commands in the same directory find it automatically.',
    );
  for (const one of serveOptions()) serve.addOption(one);
  serve.addOption(
    option(
      '--detach',
      'go on in the background once it is ready; `rewards logs` and `rewards stop` are for it',
    ),
  );
  serve.addOption(
    option(
      '--export-on-exit [snapshot]',
      'save a snapshot at the end; its name, or a path [default: last-exit]',
      {
        env: 'REWARDS_DEV_EXPORT_ON_EXIT',
      },
    ),
  );
  serve.action(lazily(async () => (await import('../run/serve.ts')).serve));
}
