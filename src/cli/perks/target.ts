/** Where perks are managed: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../client/create-client.ts';
import type { CommandContext } from '../machine/context.ts';
import { withControl } from '../service/control.ts';
import { ownReach } from '../service/own-reach.ts';
import type { LedgerOptions } from '../start/options.ts';

export const withPerks = <T>(
  context: CommandContext,
  options: LedgerOptions,
  work: (perks: Client['control']['perks']) => Promise<T>,
): Promise<T> =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.perks(ownReach(context)),
    work: ({ control }) => work(control.perks),
  });
