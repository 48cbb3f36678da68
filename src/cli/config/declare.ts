/** `rewards config`: its verbs. */
import { Option } from 'commander';
import type { Setting } from '../../lib/setting.ts';
import { startSettings } from '../../production/settings.ts';
import type { Catalog } from '../machine/verb.ts';
import { serveSettings } from '../run/serve-settings.ts';

/** The settings of each command that runs the service. */
export const settingsOf: Record<string, readonly Setting<unknown>[]> = {
  start: Object.values(startSettings),
  serve: serveSettings,
};

export function declareConfig({ parent, lazily }: Catalog): void {
  const show = parent
    .command('config')
    .summary('show the settings that a start would use, and where each comes from')
    .command('show')
    .summary('print the settings; exit code 2 when one is not understood')
    .description(
      'Prints each setting with its value and its origin: option, environment, file or default. A secret is shown as set, never with its value. Reads settings and files of secrets, nothing else.',
    );
  for (const [name, rows] of Object.entries(settingsOf)) {
    const one = show
      .command(name, { isDefault: name === 'start' })
      .summary(`print the settings of \`rewards ${name}\`, which takes the same options`);
    // As text, without defaults and variables: the command itself reports origins and problems.
    for (const { flag, help } of rows) one.addOption(new Option(flag, help));
    one.addOption(
      new Option('--origin', 'a line for each: where it comes from, a tab, and the setting with its value'),
    );
    one.action(
      lazily<Record<string, unknown>>(async () => {
        const { showConfig } = await import('../check/config.ts');
        return (context, given) => showConfig(context, { name, rows, given });
      }),
    );
  }
}
