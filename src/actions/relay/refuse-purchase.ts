/** What keeps a user from buying a perk by a relayed call, beside the contract's own checks: the brand's constraints. */
import type { StoredPerk } from '../../ledger/perks/perks.ts';
import type { CheckConstraints } from '../../rules/constraint.ts';
import type { ValidationProblem } from '../../rules/relay-policy.ts';
import { emailKey } from '../../rules/user-key.ts';

/** Undefined when the user may buy it. */
export async function refusePurchase(
  deps: { checkConstraints: CheckConstraints },
  buying: {
    perk: StoredPerk;
    /** Lower case. */
    userAddress: `0x${string}`;
    /** Present when the token's issuer has verified it. */
    email?: string | undefined;
  },
): Promise<ValidationProblem | undefined> {
  const { brandId, tokenId, constraints } = buying.perk;
  if (constraints.length === 0) return undefined;
  const userKey = buying.email === undefined ? undefined : emailKey(buying.email);
  const buyer = { address: buying.userAddress, userKey };
  const missing = await deps.checkConstraints({ brandId, tokenId, constraints, buyer });
  return missing.length > 0 ? { reason: 'constraints_not_met', missing } : undefined;
}
