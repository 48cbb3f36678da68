/** `rewards exec`: its arguments and options. */

import { settingOption } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';
import { serveSettings } from '../run/serve-settings.ts';

/** It chooses ports and folder by itself: two of them at once never meet. */
const CHOSEN = /^(-p, )?--(port|rpc-port|persist-to|ephemeral)\b/;

export function declareExec({ parent, lazily }: Catalog): void {
  const exec = parent
    .command('exec')
    .summary('run a command with a stack of its own, which ends with it')
    .usage('[options] -- <command> [arguments…]')
    .description(
      'Starts a stack that keeps nothing on free ports, runs the command with the variables of `rewards env`, and ends the stack with it. The exit code is that of the command: 128 and the number of the signal that ended it, 127 when it does not exist; what keeps the stack from starting has the codes of `rewards serve`. Signals are passed on. The command’s rewards commands find the stack by themselves.',
    )
    .argument('<command...>', 'what to run, after --');
  for (const row of serveSettings) if (!CHOSEN.test(row.flag)) exec.addOption(settingOption(row));
  exec
    .addHelpText(
      'after',
      `
Examples:
  rewards exec -- npm test
  rewards exec --seed my-brand.yaml -- npx vitest run
  rewards exec --clock 2030-01-01T00:00:00Z -- ./smoke-test.sh`,
    )
    .action(lazily(async () => (await import('../around/exec.ts')).exec));
}
