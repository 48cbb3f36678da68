/** `rewards recover`: its options. */

import { startSettings } from '../../production/settings.ts';
import { option, settingOption } from '../machine/options.ts';
import { ledgerOptions, nodeOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

const { walletsXpub, payoutKey, mintKey, redemptionKey, relayKey, confirmations, finalityBlocks } =
  startSettings;

export function declareRecover({ parent, lazily }: Catalog): void {
  const recover = parent
    .command('recover')
    .summary('take into a production ledger what the chain has and the ledger has lost')
    .description(
      'For a ledger that `rewards start` refuses as an old copy: a dump that was restored, or a failover that lost the last seconds. Reads the chain from the last block that both agree on, and the pools of the nodes. With --plan it prints what it would do; with --apply it does it, while no service runs, and can be run again when it was broken off. Give it the settings of the service.',
    )
    .addOption(
      option('--plan', 'print what would be done, and what nobody can know; change nothing (the default)'),
    )
    .addOption(option('--apply', 'do it'))
    .addOption(
      option(
        '--skip-numbers',
        'also where the chain shows nothing of what was lost: no wallet that was shown in it goes to somebody else',
      ),
    );
  const rows = [walletsXpub, payoutKey, mintKey, redemptionKey, relayKey, confirmations, finalityBlocks];
  for (const one of [...ledgerOptions(), ...nodeOptions(), ...rows.map((row) => settingOption(row))])
    recover.addOption(one);
  recover.action(lazily(async () => (await import('../check/recover.ts')).recover));
}
