/** Reads what an operator wants to be minted: how much, why, and for an account, to whom. */
import type { FundingWish } from '../../actions/payments/fund-brand.ts';
import type { HandMintWish } from '../../actions/payments/mint-by-hand.ts';
import { readSingle, type SettingProblem, type Settings } from '../../rules/brands/settings.ts';
import { addressKey } from '../../rules/user-key.ts';

const REASON_MAX = 200;

interface ReadTerms {
  /** Where RWT costs nothing, nobody needs a reason. */
  reasonNeeded: boolean;
}

/** RWT for a brand's escrow, or what is wrong with the wish. */
export function readFunding(
  settings: Settings,
  terms: ReadTerms,
): FundingWish | { problems: SettingProblem[] } {
  const { transaction } = settings;
  const { amount, reason, problems } = readTerms(settings, { ...terms, reasonDefault: 'funded by hand' });
  if (
    transaction !== undefined &&
    !(typeof transaction === 'string' && /^0x[0-9a-f]{64}$/i.test(transaction))
  )
    problems.push({
      setting: 'transaction',
      message: 'must be the hash of a transaction, 0x and 64 hex digits',
    });
  if (problems.length > 0) return { problems };
  return { amount, reason, transaction: transaction as `0x${string}` | undefined };
}

/** RWT for an account, or what is wrong with the wish. */
export function readHandMint(
  settings: Settings,
  terms: ReadTerms,
): HandMintWish | { problems: SettingProblem[] } {
  const { amount, reason, problems } = readTerms(settings, { ...terms, reasonDefault: 'minted by hand' });
  const recipient = typeof settings.to === 'string' ? addressKey(settings.to) : undefined;
  if (recipient && problems.length === 0) return { kind: 'wallet', recipient, amount, reason };
  if (!recipient) problems.unshift({ setting: 'to', message: 'must be an address, 0x and 40 hex digits' });
  return { problems };
}

function readTerms(
  { amount, reason }: Settings,
  { reasonNeeded, reasonDefault }: ReadTerms & { reasonDefault: string },
): { amount: number; reason: string; problems: SettingProblem[] } {
  const read = readSingle({ kind: 'whole', least: 1, of: 'RWT' }, amount ?? '');
  const why = reason ?? (reasonNeeded ? '' : reasonDefault);
  const problems: SettingProblem[] = [];
  if ('expected' in read) problems.push({ setting: 'amount', message: read.expected });
  if (typeof why !== 'string' || why.trim() === '' || why.length > REASON_MAX)
    problems.push({
      setting: 'reason',
      message: `says in up to ${REASON_MAX} characters why RWT is created`,
    });
  return { amount: 'expected' in read ? 0 : Number(read.value), reason: String(why).trim(), problems };
}
