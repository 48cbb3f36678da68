/** Where webhooks are managed: at the emulator, or straight in a database of production, by the same calls. */
import type { Client } from '../../../client/create-client.ts';
import { namesOf } from '../../../lib/setting.ts';
import { startSettings } from '../../../production/settings.ts';
import type { CommandContext } from '../../machine/context.ts';
import { withControl } from '../../service/control.ts';
import type { LedgerOptions } from '../../start/options.ts';

export const withWebhooks = <T>(
  context: CommandContext,
  options: LedgerOptions,
  work: (webhooks: Client['control']['webhooks']) => Promise<T>,
): Promise<T> =>
  withControl(context, options, {
    ofLedger: (ledger) => ledger.webhooks(ownNetworks(context)),
    work: ({ control }) => work(control.webhooks),
  });

/** The networks that `start` is given by the same variable; a URL that leads to others is refused at once. */
function ownNetworks({ runtime }: CommandContext): string[] {
  const { outgoingNetworks } = startSettings;
  const text = runtime.env[namesOf(outgoingNetworks).variable];
  return text === undefined ? [] : (outgoingNetworks.kind.parse(text) ?? []);
}
