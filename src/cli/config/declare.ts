/** `rewards config`: its verbs. */
import { Option } from 'commander';
import type { Setting } from '../../lib/setting.ts';
import { startSettings } from '../../production/settings.ts';
import type { Catalog } from '../machine/catalog.ts';
import { serveSettings } from '../serve/declare.ts';

/** The settings of each command that runs the service. */
export const settingsOf: Record<string, readonly Setting<unknown>[]> = {
  start: Object.values(startSettings),
  serve: serveSettings,
};

export function declareConfig({ parent, lazily }: Catalog): void {
  const show = parent
    .command('config')
    .summary('the settings that a start would use, and where each comes from')
    .command('show')
    .summary('print them; exit code 2 when one is not understood')
    .description(
      'Prints each setting with its value and its origin: option, environment, file or default. Secrets are said to be set, never shown. Reads settings and files of secrets, nothing else.',
    );
  for (const [name, rows] of Object.entries(settingsOf)) {
    const one = show
      .command(name, { isDefault: name === 'start' })
      .summary(`those of \`rewards ${name}\`, which takes the same options`);
    // As text, and without defaults and variables: the command itself says what comes from where, and what is wrong.
    for (const { flag, help } of rows) one.addOption(new Option(flag, help));
    one.action(
      lazily<Record<string, unknown>>(async () => {
        const { showConfig } = await import('./run.ts');
        return (context, given) => showConfig(context, { name, rows, given });
      }),
    );
  }
}
