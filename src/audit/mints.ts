/** Sales on chain against payments: each has its mint or its operator, each mint its sale, each paid session its mint. */
import {
  type DoneMint,
  doneOperatorMints,
  doneSessionMints,
  type ExpectedSale,
  expectedSales,
  isMintedByHand,
  type OddCheckout,
  oddCheckouts,
} from '../ledger/payments/audited-mints.ts';
import { directMints } from '../ledger/payments/mints.ts';
import { type Audit, pagesOf } from './audit.ts';
import type { ActivityPage } from './chain-history.ts';

/** From the chain to the ledger: the sales of one page. */
export async function checkSales(audit: Audit, page: ActivityPage): Promise<void> {
  const { db, findings, seen } = audit;
  const sales = page.activities.flatMap(({ sales: made, transactionHash, blockNumber }) =>
    made.map((sale) => ({ ...sale, transactionHash, blockNumber })),
  );
  if (sales.length === 0) return;
  const known = await expectedSales(
    db,
    sales.map(({ key }) => key),
  );
  const recorded = await directMints(
    db,
    sales.map(({ transactionHash }) => transactionHash),
  );
  await audit.breathe();
  for (const { key, to, intoEscrow, amount, transactionHash: transaction, blockNumber: block } of sales) {
    findings.checked.mints += 1;
    seen.sales.add(key);
    const found = saleText({ recipient: to, intoEscrow, amount });
    const row = known.get(key);
    const about = { transaction, block, key, session: row?.sessionId ?? null };
    if (!row) {
      if (recorded.get(transaction) === amount) continue;
      const message = 'the sale minted RWT that no payment and no operator of this ledger has asked for';
      findings.add('sale_without_mint', { message, about, found });
    } else if (saleText(row) !== found) {
      const message = 'the sale minted something else than the ledger says';
      findings.add('sale_differs', { message, about, expected: saleText(row), found });
    }
  }
}

const saleText = (of: Pick<ExpectedSale, 'recipient' | 'intoEscrow'> & { amount: number | bigint }) =>
  `${of.amount} RWT ${of.intoEscrow ? 'into the escrow of' : 'to'} ${of.recipient.toLowerCase()}`;

/** From the ledger to the chain, and payments against their mints. */
export async function verifyMints(audit: Audit): Promise<void> {
  for (const read of [doneSessionMints, doneOperatorMints]) {
    for await (const page of pagesOf(audit, read, ({ key }) => key)) {
      for (const mint of page) await checkDone(audit, mint);
    }
  }
  for await (const page of pagesOf(audit, oddCheckouts, ({ id }) => id)) {
    for (const checkout of page) await checkCheckout(audit, checkout);
  }
}

/** A mint that a block counts as done is on chain: in a log that was read, or before the blocks that were. */
async function checkDone({ findings, history, seen, block }: Audit, mint: DoneMint): Promise<void> {
  const { key, sessionId, hash, blockNumber } = mint;
  if (blockNumber > block || seen.sales.has(key) || (await history.isMinted(key, block))) return;
  findings.add('mint_without_sale', {
    message: 'a mint counts as done, but the sale has not used its key',
    about: { session: sessionId, key, transaction: hash, block: blockNumber },
    expected: saleText(mint),
  });
}

async function checkCheckout({ db, findings }: Audit, checkout: OddCheckout): Promise<void> {
  const { sessionId, brandId, amountCents, rwtAmount, refundedCents, disputedAt, key, failure } = checkout;
  const session = sessionId ?? checkout.id;
  const about = { session, brandId, cents: amountCents, refundedCents };
  const expected = `${rwtAmount} RWT`;
  if (key === null || failure !== null) {
    // What was given back, or minted by hand for this session, is settled.
    if (refundedCents >= amountCents || (await isMintedByHand(db, session))) return;
    findings.add('paid_without_mint', {
      message: failure === null ? 'a paid session has no mint' : 'the mint of a paid session was given up',
      about,
      expected,
      found: failure,
    });
    return;
  }
  if (refundedCents > 0) {
    const message = `${refundedCents} of ${amountCents} cents were given back, and ${expected} stay minted`;
    findings.flag('refunded_after_mint', { message, about });
  }
  if (disputedAt !== null) {
    const message = `the payer disputes the payment, and ${expected} stay minted`;
    findings.flag('disputed_after_mint', {
      message,
      about: { ...about, at: new Date(disputedAt).toISOString() },
    });
  }
}
