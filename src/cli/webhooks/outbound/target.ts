/** Where webhooks are managed: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../../client/create-client.ts';
import type { CommandContext } from '../../machine/context.ts';
import { withControl } from '../../service/control.ts';
import { ownReach } from '../../service/own-reach.ts';
import type { LedgerOptions } from '../../start/options.ts';

export const withWebhooks = <T>(
  context: CommandContext,
  options: LedgerOptions,
  work: (webhooks: Client['control']['webhooks']) => Promise<T>,
): Promise<T> =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.webhooks(ownReach(context)),
    work: ({ control }) => work(control.webhooks),
  });
