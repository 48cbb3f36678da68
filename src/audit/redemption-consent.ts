/** Collections against consent: what was collected without the user is what the brand has paid them, and a permit was spent. */
import { addressSpellings } from '../chain/contracts/calls/address-spellings.ts';
import {
  type CollectedWithoutUser,
  collectedWithoutUsers,
  placeOfCollected,
} from '../ledger/perks/audited-redemptions.ts';
import { paidByBrands } from '../ledger/perks/grants.ts';
import type { Redemption } from '../ledger/perks/redemptions.ts';
import { userKeysAt } from '../ledger/wallets/wallets.ts';
import { type Audit, pagesOf } from './audit.ts';
import type { EscrowActivity } from './escrow-activity.ts';

/** Whether a permit paid: then nothing was collected of its owner without an allowance. */
export function checkPermitSpent(
  { findings }: Pick<Audit, 'findings'>,
  row: Redemption,
  { transactionHash, blockNumber, withoutAllowance }: EscrowActivity,
): void {
  if (row.consent !== 'permit') return;
  const wallet = row.wallet.toLowerCase();
  const amount = withoutAllowance.reduce((sum, one) => (one.user === wallet ? sum + one.amount : sum), 0n);
  if (amount === 0n) return;
  findings.add('redemption_without_consent', {
    message: "a redemption counts as paid by the user's permit, and was collected without their allowance",
    about: { transaction: transactionHash, block: blockNumber, redemption: row.id },
    expected: '0 RWT without an allowance',
    found: `${amount} RWT without an allowance`,
  });
}

/** Whether every brand has paid what it collected of users without their own word. */
export async function verifyGrants(audit: Audit): Promise<void> {
  for await (const page of pagesOf(audit, collectedWithoutUsers, placeOfCollected)) {
    const wallets = [...new Set(page.map(({ wallet }) => wallet))];
    const named = await userKeysAt(audit.db, wallets.flatMap(addressSpellings));
    const paid = await paidByBrands(audit.db, { wallets, userKeys: [...new Set([...wallets, ...named])] });
    await audit.breathe();
    for (const one of page) compareGrant(audit, one, paid.get(placeOfCollected(one)) ?? 0);
  }
}

function compareGrant({ findings }: Audit, of: CollectedWithoutUser, paid: number): void {
  const { wallet, brandId, granted, unasked } = of;
  if (granted > paid)
    findings.add('redemption_without_consent', {
      message: 'a brand has collected more of a user, without their token or permit, than it has paid them',
      about: { brandId, wallet },
      expected: `${paid} RWT at most`,
      found: `${granted} RWT`,
    });
  if (unasked > paid - granted && unasked > 0)
    findings.flag('collected_unasked', {
      message: `${unasked} RWT were collected of ${wallet} before consent was asked for, more than the brand had paid`,
      about: { brandId, wallet },
    });
}
