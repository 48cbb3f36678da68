/** RWT by hand, the mints of checkouts, and whether ledger and chain agree, over the control API. */
import * as escrow from '../../actions/payments/mint-by-hand.ts';
import * as mints from '../../actions/payments/mint-by-hand.ts';
import type { VerifyReport } from '../../audit/report.ts';
import type { VerifyOptions } from '../../audit/verify-ledger.ts';
import {
  fundBrand,
  mintByHand,
  mintOfSession,
  REASON_MUST_SAY,
  type SessionMint,
  showTotals,
  type Totals,
  verify,
} from '../../contract/control/mints.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import { checksummed } from '../../identity/checksum.ts';
import { isMinted, readMint } from '../../ledger/payments/mints.ts';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlMintsDeps extends escrow.FundBrandDeps, mints.MintByHandDeps {}

/** What a ledger mints by itself, or has the running service mint. */
export const controlMints = (deps: ControlMintsDeps): ControlRoute[] => [
  controlHandler(fundBrand, async ({ path, body: { amount, reason, transaction } }) => {
    const why = reasonOf(reason ?? (deps.mints && 'funded by hand'));
    return why === undefined
      ? NO_REASON
      : escrow.fundBrand(deps, path.name, { amount, reason: why, transaction });
  }),
  controlHandler(mintByHand, async ({ body: { to, amount, reason } }) => {
    const why = reasonOf(reason ?? (deps.mints && 'minted by hand'));
    if (why === undefined) return NO_REASON;
    const minted = await mints.mintByHand(deps, { kind: 'wallet', recipient: to, amount, reason: why });
    if ('problems' in minted) return invalid(minted.problems);
    const { key, recipient, state, failure, hash, transaction } = minted;
    return {
      key,
      to: checksummed(recipient),
      amount: minted.amount,
      reason: minted.reason,
      state,
      failure,
      transactionHash: hash,
      transaction,
    };
  }),
];

export interface ControlMoneyDeps extends Pick<mints.MintByHandDeps, 'database'> {
  readTotals: () => Promise<Totals>;
  /** Compares ledger and chain. */
  verify: (options: VerifyOptions) => Promise<VerifyReport>;
}

/** What a running service says of its money. */
export const controlMoney = (deps: ControlMoneyDeps): ControlRoute[] => [
  controlHandler(mintOfSession, async ({ path: { session: sessionId } }) => {
    const found = await readMint(deps.database.db, sessionId);
    const state: SessionMint['state'] = found
      ? isMinted(found)
        ? 'minted'
        : found.failure
          ? 'given_up'
          : 'waiting'
      : 'none';
    const { failure = null, hash = null } = found ?? {};
    return { sessionId, state, failure, transactionHash: hash };
  }),
  controlHandler(verify, ({ query: { limit, since } }) => deps.verify({ differencesMax: limit, since })),
  controlHandler(showTotals, () => deps.readTotals()),
];

/** Where RWT costs nothing, a reason is not needed. */
const reasonOf = (reason: string | undefined) => reason?.trim() || undefined;

const invalid = (problems: SettingProblem[]): { refusal: ControlRefusal } => ({
  refusal: { code: 'invalid_settings', problems },
});
const NO_REASON = invalid([{ setting: 'reason', message: REASON_MUST_SAY }]);
