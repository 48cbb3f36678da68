/** Debits on chain against redemptions: each debit has its redemption and code, each redemption that is done its debit. */

import { addressSpellings } from '../identity/checksum.ts';
import {
  type CollectedWithoutUser,
  collectedWithoutUsers,
  doneRedemptions,
  expectedRedemptions,
  placeOfCollected,
} from '../ledger/perks/audited-perks.ts';
import { paidByBrands } from '../ledger/perks/grants.ts';
import type { Redemption } from '../ledger/perks/redemptions.ts';
import { userKeysAt } from '../ledger/wallets/wallets.ts';
import { type Audit, pagesOf } from './audit.ts';
import type { ActivityPage } from './chain-history.ts';
import type { EscrowActivity } from './escrow-activity.ts';

/** From the chain to the ledger: what the escrow collected in one page. */
export async function checkRedeemed(audit: Audit, page: ActivityPage): Promise<void> {
  const { db, findings, seen } = audit;
  const debits = page.activities.flatMap((activity) =>
    activity.redeemed.map((debit) => ({ ...debit, activity })),
  );
  if (debits.length === 0) return;
  const known = await expectedRedemptions(
    db,
    debits.map(({ key }) => key),
  );
  await audit.breathe();
  for (const { key, brandId, user, amount, activity } of debits) {
    const { transactionHash: transaction, blockNumber: block } = activity;
    seen.redemptions.add(key);
    const row = known.get(key);
    const about = { transaction, block, key, redemption: row?.id ?? null };
    const found = debitText({ amount, wallet: user, brandId });
    if (!row) {
      const message = 'the escrow collected RWT that no redemption of this ledger has asked for';
      findings.add('redemption_unknown', { message, about, found });
      continue;
    }
    checkPermitSpent(audit, row, activity);
    // A price that fell after it was asked for is collected as it is then.
    const isAsPromised =
      row.failure === null &&
      row.wallet.toLowerCase() === user &&
      row.brandId === brandId &&
      amount <= BigInt(row.cost);
    if (isAsPromised) continue;
    const message =
      row.failure === null
        ? 'the escrow collected something else than the ledger says'
        : 'the escrow collected RWT for a redemption that counts as failed';
    findings.add('redemption_differs', {
      message,
      about,
      found,
      expected: row.failure ?? debitText({ ...row, amount: row.cost }),
    });
  }
}

/** From the ledger to the chain: what a block counts as done was collected, in a log that was read or before those blocks. */
export async function verifyRedemptions(audit: Audit): Promise<void> {
  await verifyGrants(audit);
  const { findings, history, seen, block } = audit;
  for await (const page of pagesOf(audit, doneRedemptions, ({ key }) => key)) {
    for (const one of page) {
      // What costs nothing is not collected.
      if (one.cost === 0 || one.blockNumber > block || seen.redemptions.has(one.key)) continue;
      if (await history.isRedeemed(one.key, block)) continue;
      findings.add('redemption_without_debit', {
        message: 'a redemption counts as done, but the escrow has not collected its price',
        about: { redemption: one.id, key: one.key, transaction: one.hash, block: one.blockNumber },
        expected: debitText({ ...one, amount: one.cost }),
      });
    }
  }
}

const debitText = (of: { amount: bigint | number; wallet: string; brandId: string }) =>
  `${of.amount} RWT of ${of.wallet.toLowerCase()} for ${of.brandId.toLowerCase()}`;

// Collections against consent: what was collected without the user is what the brand has paid them, and a permit was
// spent.

/** Whether a permit paid: then nothing was collected of its owner without an allowance. */
function checkPermitSpent(
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
async function verifyGrants(audit: Audit): Promise<void> {
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
