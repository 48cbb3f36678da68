/** Perks as the control API shows them. */

import type { ManagedPerk as Perk } from '../../actions/perks/manage-perks.ts';
import type { ShownRedemption } from '../../actions/perks/manage-redemptions.ts';
import type { ManagedPerk, Redemption } from '../../contract/control/perks.ts';

export const managedPerkReply = ({ createdAt, constraints, ...perk }: Perk): ManagedPerk => ({
  ...perk,
  constraints: constraints.map((one) => ({ ...one })),
  createdAt: new Date(createdAt).toISOString(),
});

const timeOf = (ms: number) => new Date(ms).toISOString();

/** Whether it waits for its next try. */
const isRetried = ({ transactionId, failure, nextTryAt }: ShownRedemption['redemption']) =>
  transactionId === null && failure === null && nextTryAt > 0;

export function redemptionReply(shown: ShownRedemption): Redemption {
  const { redemption, perkName, transactionHash, state } = shown;
  const { id, brandId, perkId, userKey, userEmail, wallet, cost, confirmationCode, failure } = redemption;
  return {
    id,
    brandId,
    perkId,
    perkName,
    user: userEmail ?? userKey,
    wallet,
    cost,
    confirmationCode,
    state,
    consent: redemption.consent,
    failure,
    transactionHash,
    createdAt: timeOf(redemption.createdAt),
    refusals: redemption.refusals,
    refusal: redemption.refusal,
    nextTryAt: isRetried(redemption) ? timeOf(redemption.nextTryAt) : null,
    usedAt: redemption.usedAt === null ? null : timeOf(redemption.usedAt),
  };
}
