/** `rewards recover --plan|--apply`: the way back of a production ledger that has lost commits. */

import { namesOf } from '../../lib/setting.ts';
import type { RecoveryReport } from '../../production/recovery/report.ts';
import type { Secret } from '../../production/secrets.ts';
import { startSettings } from '../../production/settings.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf, usageError } from '../machine/errors.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/shared-options.ts';
import { withLedger } from '../service/ledger.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Style } from '../terminal/style.ts';

/** Of each list, as many lines as a person reads; `-o json` has all. */
const SHOWN = 20;

function recoveryText(report: RecoveryReport, style: Style): string {
  const { state, agreedBlock, headBlock, pendingUnknown } = report;
  const reach = `blocks ${agreedBlock === null ? 'from the deployment' : agreedBlock + 1} to ${headBlock}`;
  if (state === 'nothing')
    return [
      style.green(`the chain has nothing that this ledger lacks, in ${reach}`),
      style.dim(
        'Where commits were lost all the same (a failover, a copy that was restored), add --apply --skip-numbers: no wallet that was shown in them goes to somebody else.',
      ),
      ...earlier(report, style),
    ].join('\n');
  const done = state === 'applied';
  return [
    style.bold(`${done ? 'recovered' : 'would be recovered; nothing was changed'}: ${reach}`),
    ...counted(report),
    ...section(
      style,
      'other offers of transactions that the ledger has',
      report.attempts,
      (one) => `${one.account}  nonce ${one.nonce}  ${one.hash}`,
    ),
    ...section(style, 'users, by address', report.users, (user) => {
      const { address, userKey, isNew, rewards, rwt } = user;
      return `${address}  ${isNew ? 'unknown: a user of its own from now on' : userKey}  ${rewards} rewards, ${rwt} RWT`;
    }),
    ...section(
      style,
      'rewards of an unknown event (their users may claim it once more)',
      unknownRewards(report),
      (one) => {
        const { sequence, wallet, amount, brandId, mayBe } = one;
        const events = (mayBe as string[]).length > 0 ? ` for one of ${(mayBe as string[]).join(', ')}` : '';
        return `${sequence}  ${wallet}  ${amount} RWT of ${brandId}${events}`;
      },
    ),
    ...section(
      style,
      'mints of which nobody knows who asked',
      report.mints.filter(({ session }) => session === null),
      (one) => `${one.key}  ${one.amount} RWT (${one.kind}) ${one.recipient}`,
    ),
    ...section(
      style,
      'redemptions with a new code (the old one is lost)',
      report.redemptions,
      (one) => `${one.code}  ${one.perk ?? `perk ${one.tokenId}`}  ${one.cost} RWT of ${one.userKey}`,
    ),
    ...section(
      style,
      'perks whose names and constraints are lost (off until you see to them)',
      report.perks,
      (one) => `${one.tokenId}  of ${one.brandId}, ${one.cost} RWT`,
    ),
    ...section(style, 'promises that the chain contradicts', report.released, (one) => JSON.stringify(one)),
    ...section(
      style,
      'nonces used by transactions of another form',
      report.unreadable,
      (one) => `${one.account}  nonce ${one.nonce}  ${one.hash}`,
    ),
    ...section(style, 'brands that the ledger does not have', report.unknownBrands, (brandId) => brandId),
    ...section(style, 'gas wallets of lost brands', report.lostGasWallets, (address) => address),
    ...section(
      style,
      'waiting in the pool of a node that does not show what it is',
      pendingUnknown,
      (one) => `${one.account}  nonces ${one.fromNonce} to ${one.nextNonce - 1}`,
    ),
    style.dim(
      'Requests that were answered and had not reached a transaction leave no trace: those users may ask again.',
    ),
    ...earlier(report, style),
  ].join('\n');
}

const unknownRewards = ({ rewards }: RecoveryReport) => rewards.filter(({ event }) => event === null);

function counted({
  transactions,
  rewards,
  mints,
  redemptions,
  relays,
  goesOnWith,
}: RecoveryReport): string[] {
  const carried = Object.entries(transactions).map(([kind, count]) => `${count} ${kind}`);
  const rows = [
    `${rewards.length} rewards`,
    `${mints.length} mints`,
    `${redemptions.length} redemptions`,
    `${relays.length} relayed calls`,
  ];
  return [
    `  transactions: ${carried.join(', ') || 'none'}`,
    `  rows: ${rows.join(', ')}`,
    ...(goesOnWith
      ? [`  goes on with sequence ${goesOnWith.reward_sequence}, wallet ${goesOnWith.wallet_index}`]
      : []),
  ];
}

function section<Item>(
  style: Style,
  title: string,
  items: readonly Item[],
  line: (item: Item) => string,
): string[] {
  if (items.length === 0) return [];
  const more = items.length - SHOWN;
  return [
    style.yellow(`${title}: ${items.length}`),
    ...items.slice(0, SHOWN).map((item) => `  ${line(item)}`),
    ...(more > 0 ? [style.dim(`  and ${more} more, in -o json`)] : []),
  ];
}

const earlier = ({ recoveries }: RecoveryReport, style: Style) =>
  recoveries.map(({ id, startedAt, finishedAt, rows }) => {
    const what = Object.entries(rows).map(([kind, count]) => `${count} ${kind}`);
    return style.dim(
      `recovery ${id} of ${startedAt}, ${finishedAt === null ? 'broken off' : 'finished'}: ${what.join(', ') || 'no rows'}`,
    );
  });

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
