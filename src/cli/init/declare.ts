/** `rewards init`: its argument. */
import type { Catalog } from '../machine/verb.ts';

export function declareInit({ parent, lazily }: Catalog): void {
  parent
    .command('init')
    .summary('begin a project: a brand, a first scenario, and a workflow for CI')
    .description(
      'Writes rewards.yaml (a brand with comments, for `rewards serve --seed`), scenarios/first.yaml (for `rewards scenario run`) and .github/workflows/rewards.yml, and adds .rewards/ to .gitignore. A file that exists is left as it is, and named.',
    )
    .argument('[dir]', 'folder of the project; made where it does not exist', '.')
    .addHelpText('after', '\nExample:\n  rewards init && rewards serve --seed rewards.yaml')
    .action(lazily(async () => (await import('../setup/init.ts')).init));
}
