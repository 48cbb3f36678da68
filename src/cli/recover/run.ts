/** `rewards recover --plan|--apply`: the way back of a production ledger that has lost commits. */

import { namesOf } from '../../lib/setting.ts';
import type { Secret } from '../../production/secrets.ts';
import { startSettings } from '../../production/settings.ts';
import { recoveryText } from '../check/recover.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf, usageError } from '../machine/errors.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/setting-options.ts';
import { withLedger } from '../service/ledger.ts';
import { createProgress } from '../terminal/progress.ts';

type RecoverOptions = LedgerOptions &
  Record<string, unknown> & {
    plan?: boolean;
    apply?: boolean;
    skipNumbers?: boolean;
    confirmations: number;
    finalityBlocks: number;
  };

export const recover: Handler<RecoverOptions> = async (context, options) => {
  const { plan = false, apply = false, skipNumbers = false, confirmations, finalityBlocks } = options;
  if (plan && apply)
    throw usageError(
      'Nothing was changed: --plan and --apply contradict each other.',
      'Give --plan, which is the default, to see what it would do, or --apply to do it.',
    );
  const progress = createProgress(context);
  try {
    return await withLedger(context, options, async (ledger) => {
      const secret = (row: Row) => secretOf(row, context, options);
      const { walletsXpub, payoutKey, mintKey, redemptionKey, relayKey } = startSettings;
      const recovery = await ledger.recovery({
        nodes: ledgerSecrets(options).nodes,
        walletsXpub: secret(walletsXpub),
        keys: {
          payout: secret(payoutKey),
          mint: secret(mintKey),
          redemption: secret(redemptionKey),
          relay: secret(relayKey),
        },
        settings: { confirmations, finalityBlocks },
        progress: progress.show,
      });
      const report = await (apply ? recovery.apply({ skipNumbers }) : recovery.plan({ skipNumbers }));
      progress.clear();
      const shown = {
        data: report,
        text: (style: CommandContext['style']['stdout']) => recoveryText(report, style),
      };
      if (report.pendingUnknown.length === 0) return { ok: true, ...shown };
      return { ok: false, error: problemOf('E_RECOVERY_PENDING'), ...shown };
    });
  } finally {
    progress.clear();
  }
};

type Row = Parameters<typeof namesOf>[0];

/** A file where one is named, else the variable itself. */
function secretOf(row: Row, { runtime }: CommandContext, options: Record<string, unknown>): Secret {
  const { attribute, variable } = namesOf(row);
  const files = [options[attribute] ?? []].flat() as string[];
  return files.length > 0 ? { files } : { value: runtime.env[variable] };
}
