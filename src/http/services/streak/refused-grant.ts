/** Refusals of what the service pays by itself, as the services host answers them. */
import type { Writer } from '../../../actions/engagement/admit-write.ts';
import type { ClaimMilestoneRefusal } from '../../../actions/engagement/claim-milestone.ts';
import type { RecordRefusal } from '../../../actions/engagement/record-activity.ts';
import type { ServicesRefusal } from '../../../contract/services/refusals.ts';

const TO_OURSELVES =
  'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address';

/** What a brand has left is told to callers with a key alone. */
export function refusedGrant(
  refusal: RecordRefusal | ClaimMilestoneRefusal,
  { keyOf }: Writer,
): ServicesRefusal {
  if (refusal.code === 'paid_to_ourselves') return { code: 'invalid_request', errors: [TO_OURSELVES] };
  if (refusal.code !== 'insufficient_brand_balance') return refusal;
  const { code, required, available } = refusal;
  return { code, required, ...(keyOf !== undefined && { available }) };
}
