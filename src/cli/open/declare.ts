/** `rewards open`: its arguments and options. */
import { Argument } from 'commander';
import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';
import { pages } from './pages.ts';

export function declareOpen({ parent, lazily }: Catalog): void {
  parent
    .command('open')
    .summary('open a page of the running stack in the browser')
    .description(
      'Prints the address of a page and opens it: the control API, signed in; the demo site; the reference of the API; the page of the newest open checkout. The browser is opened by a person at a terminal only, never in CI, through a pipe or with --no-browser.',
    )
    .addArgument(new Argument('[page]', 'what to open').choices(pages).default('control'))
    .addOption(option('--no-browser', 'print the address alone', { env: 'REWARDS_NO_BROWSER' }))
    .action(lazily(async () => (await import('../around/open.ts')).openPage));
}
