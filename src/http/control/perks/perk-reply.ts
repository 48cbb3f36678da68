/** Perks as the control API shows them. */
import type { z } from 'zod';
import type { ShownRedemption } from '../../../actions/perks/list-redemptions.ts';
import type { ManagedPerk } from '../../../actions/perks/manage-perks.ts';
import type { managedPerkShape, shownRedemption } from '../../../contract/control/perks.ts';

export const managedPerkReply = ({
  createdAt,
  constraints,
  ...perk
}: ManagedPerk): z.output<typeof managedPerkShape> => ({
  ...perk,
  constraints: constraints.map((one) => ({ ...one })),
  createdAt: new Date(createdAt).toISOString(),
});

const timeOf = (ms: number) => new Date(ms).toISOString();

/** Whether it waits for its next try. */
const isRetried = ({ transactionId, failure, nextTryAt }: ShownRedemption['redemption']) =>
  transactionId === null && failure === null && nextTryAt > 0;

export function redemptionReply(shown: ShownRedemption): z.output<typeof shownRedemption> {
  const { redemption, perkName, transactionHash, state } = shown;
  const { id, brandId, perkId, userKey, userEmail, wallet, cost, confirmationCode, failure } = redemption;
  return {
    ...{ id, brandId, perkId, perkName, user: userEmail ?? userKey, wallet, cost, confirmationCode, state },
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
