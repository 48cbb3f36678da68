/** `rewards config`: its verbs. */
import { Option } from 'commander';
import type { Catalog } from '../machine/catalog.ts';
import { serveOptions } from '../serve/declare.ts';
import { startOptions } from '../start/options.ts';

/** The settings of each command that runs the service. */
export const settingsOf = { start: startOptions, serve: serveOptions };
export type Configured = keyof typeof settingsOf;

export function declareConfig({ parent, lazily }: Catalog): void {
  const show = parent
    .command('config')
    .summary('the settings that a start would use, and where each comes from')
    .command('show')
    .summary('print them; exit code 2 when one is not understood')
    .description(
      'Prints each setting with its value and its origin: option, environment, file or default. Secrets are said to be set, never shown. Reads settings and files of secrets, nothing else.',
    );
  for (const name of Object.keys(settingsOf) as Configured[]) {
    const one = show
      .command(name, { isDefault: name === 'start' })
      .summary(`those of \`rewards ${name}\`, which takes the same options`);
    // As text, and without defaults and variables: the command itself says what comes from where, and what is wrong.
    for (const { flags, description } of settingsOf[name]()) one.addOption(new Option(flags, description));
    one.action(
      lazily<Record<string, unknown>>(async () => {
        const { showConfig } = await import('./run.ts');
        return (context, given) => showConfig(context, { name, given });
      }),
    );
  }
}
