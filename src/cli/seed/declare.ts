/** `rewards seed`: its options. */

import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareSeed({ parent, lazily }: Catalog): void {
  parent
    .command('seed')
    .summary('compare seed files with the running stack, or apply them')
    .description(
      'Brands and rules of the files become what the files say; other brands and rules stay. A new brand gets its opening deposit, gas wallet and perks; those of an existing brand stay. `serve --seed` does the same at each start.',
    )
    .argument('[file...]', 'seed files; default: those that the stack was started with')
    .addOption(option('--diff', 'only print what they would change; the default'))
    .addOption(option('--apply', 'change it'))
    .addHelpText(
      'after',
      `
Examples:
  rewards seed shop.yaml
  rewards seed shop.yaml --apply`,
    )
    .action(lazily(async () => (await import('../setup/seed.ts')).seed));
}
