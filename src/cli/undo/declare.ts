/** `rewards undo`. */
import type { Catalog } from '../machine/verb.ts';

export function declareUndo({ parent, lazily }: Catalog): void {
  parent
    .command('undo')
    .summary('take back the last request that changed something, and say which it was')
    .description(
      'Goes back to the state before the last request that changed something: an event, a checkout, a setting, a move of the clock, a restore. Several in a row go back further, up to 20 states.',
    )
    .action(lazily(async () => (await import('../emulator/snapshots.ts')).undo));
}
