/** `rewards env`: its options. */

import { formats } from '../around/env-formats.ts';
import { gather, option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareEnv({ parent, lazily }: Catalog): void {
  parent
    .command('env')
    .summary('print how a program under test finds the stack that runs here')
    .description(
      'Prints the addresses and keys of the stack that runs here as environment variables, and nothing else. They are those of a development stack: none of them is worth anything elsewhere.',
    )
    .addOption(
      option('--format <format>', 'notation of the variables; github is that of $GITHUB_ENV', {
        default: 'dotenv',
        choices: Object.keys(formats),
      }),
    )
    .addOption(
      option('--rename <OLD=NEW>', 'print OLD under the name NEW; may be given several times', {
        parse: gather,
      }),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards env > .env
  eval "$(rewards env --format shell)"
  rewards env --rename REWARDS_EVENT_HANDLER_URL=VITE_EVENTS_URL
  rewards env --format github >> "$GITHUB_ENV"`,
    )
    .action(lazily(async () => (await import('../around/env.ts')).printEnvironment));
}
