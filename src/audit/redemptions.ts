/** Debits on chain against redemptions: each debit has its redemption and code, each redemption that is done its debit. */
import { doneRedemptions, expectedRedemptions } from '../ledger/perks/audited-redemptions.ts';
import { type Audit, pagesOf } from './audit.ts';
import type { ActivityPage } from './chain-history.ts';
import { checkPermitSpent, verifyGrants } from './redemption-consent.ts';

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
