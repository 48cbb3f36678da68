/** `rewards clock`: names, arguments and summaries. */

import type { Catalog } from '../machine/catalog.ts';
import { asGiven, durationMs, instantMs, option } from '../machine/options.ts';

export function declareClock({ parent, lazily }: Catalog): void {
  const clock = parent
    .command('clock')
    .summary('read and move the one clock of the emulator')
    .description(
      'The rules, the chain and everything else in the emulator follow one clock. It only moves forward.',
    );
  clock
    .command('show')
    .summary('print the time of the clock')
    .action(lazily(async () => (await import('./run.ts')).showClock));
  clock
    .command('advance')
    .summary('move the clock forward by a duration, or until a refused event passes')
    .usage('<duration> | --until <request>')
    .argument('[duration]', 'such as 61s, 15m, 24h or 1h30m', asGiven(durationMs))
    .addOption(
      option(
        '--until <request>',
        'move to the time when the event of this request passes: its id, or latest',
      ),
    )
    .action(lazily(async () => (await import('./run.ts')).advanceClock));
  clock
    .command('set')
    .summary('move the clock forward to a time')
    .argument('<time>', 'RFC 3339, such as 2030-01-01T00:00:00Z', asGiven(instantMs))
    .action(lazily(async () => (await import('./run.ts')).setClock));
  clock
    .command('freeze')
    .summary('stop it')
    .action(lazily(async () => (await import('./run.ts')).freezeClock));
  clock
    .command('run')
    .summary('let the clock run again')
    .action(lazily(async () => (await import('./run.ts')).runClock));
}
