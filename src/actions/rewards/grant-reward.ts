/** Grants a reward that no event asks for, such as a streak's bonus: the same money, limits, wallets and rows. */

import type { Milestone, RewardWaiters } from '../../chain/waiting/reward-waiters.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { lockAvailableFunds } from '../../ledger/rewards/funds.ts';
import type { RewardProgress } from '../../ledger/rewards/rewards.ts';
import { readSpending } from '../../ledger/rewards/spending.ts';
import { refuseSpending, type SpendRefusal } from '../../rules/events/spend-limit.ts';
import type { GrantType } from '../../rules/grant-types.ts';
import { type Grantable, type GrantedReward, limitsOf, recordGrants } from './record-grants.ts';
import { paidToOurselves, walletsOfPayees } from './refuse-own-accounts.ts';

export interface GrantDeps {
  /** The address at a place of the operator's key tree. */
  addressAt: (index: number) => `0x${string}`;
  /** The service's contracts and accounts, and the zero address, in lower case: no reward goes there. */
  ownAddresses: ReadonlySet<string>;
}

interface GrantWish extends Grantable {
  /** One of the types that no rule of a brand may have. */
  eventType: GrantType;
  nowMs: number;
}

export type GrantRefusal =
  | { code: 'automation_disabled'; brandId: string }
  | { code: 'paid_to_ourselves' }
  | SpendRefusal
  | { code: 'insufficient_brand_balance'; available: number; required: number };

/**
 * Grants one reward in the caller's commit, or says why not; then nothing was written. It locks the brand's funds, so a
 * caller that locks rows of its own does so after `lockAvailableFunds`. Throws `Overtaken` where another process was
 * faster: the caller decides again. Afterwards the payout lane has to be nudged.
 */
export async function grantReward(
  deps: GrantDeps,
  tx: Queries,
  wish: GrantWish,
): Promise<{ granted: GrantedReward } | { refusal: GrantRefusal }> {
  const { brand, amount, nowMs } = wish;
  const { brandId } = brand;
  if (!brand.automation) return { refusal: { code: 'automation_disabled', brandId } };
  const funds = await lockAvailableFunds(tx, [brandId]);
  const wallets = await walletsOfPayees(tx, [wish]);
  const toOurselves = await paidToOurselves(tx, { users: [wish], wallets, ownAddresses: deps.ownAddresses });
  if (toOurselves.size > 0) return { refusal: { code: 'paid_to_ourselves' } };
  const spending = await readSpending(tx, { brands: limitsOf([wish]), nowMs });
  const overspent = refuseSpending(spending.get(brandId) ?? [], { amount, nowMs });
  if (overspent) return { refusal: overspent };
  const available = funds.get(brandId) ?? 0;
  if (available < amount)
    return { refusal: { code: 'insufficient_brand_balance', available, required: amount } };
  const unlimited = Number.MAX_SAFE_INTEGER;
  const terms = { claimsBelow: unlimited, lastAtMost: unlimited, maxTotalClaims: unlimited };
  const [granted] = await recordGrants(deps, tx, { grants: [{ ...wish, ...terms }], wallets, nowMs });
  if (!granted) throw new Error('a grant was recorded without a reward');
  return { granted };
}

// Has a granted reward sent, and waits for its transaction.

export interface PayoutDeps {
  payouts: { nudge(): void };
  progress: Pick<RewardWaiters, 'waitFor'>;
  /** How far the transaction must be before the caller is answered. */
  answerWhen: Milestone;
  /** The longest that a caller waits for it, in real time. */
  answerTimeoutMs: number;
}

/** Undefined where the time is over first: the reward is still on its way. */
export function awaitPayout(
  { payouts, progress, answerWhen: until, answerTimeoutMs: timeoutMs }: PayoutDeps,
  rewardId: string,
): Promise<RewardProgress | undefined> {
  // Before the lane is nudged, which may be faster than the next line.
  const waiting = progress.waitFor({ rewardId, until, timeoutMs });
  payouts.nudge();
  return waiting;
}
