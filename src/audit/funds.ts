/** Brands' money: what the escrow holds for each, and what their accounts say about it. */
import { fundsPage } from '../ledger/audit-pages.ts';
import { type Audit, isWhole } from './audit.ts';

const BRANDS_PER_PAGE = 100;

/** Compares sums over everything, so it has nothing to say about a part. */
export async function verifyFunds(audit: Audit): Promise<void> {
  if (!isWhole(audit)) return;
  const { db, history, block, findings } = audit;
  let after = '';
  let held = 0n;
  while (!audit.stopped()) {
    const page = await fundsPage(db, { after, limit: BRANDS_PER_PAGE });
    const balances = await Promise.all(page.map(({ brandId }) => history.escrowOf(brandId, block)));
    for (const [place, account] of page.entries()) {
      const found = balances[place] ?? 0n;
      held += found;
      checkAccount(audit, account, found);
    }
    const last = page.at(-1);
    audit.progress({ part: 'brands', done: findings.checked.brands, of: undefined });
    await audit.breathe();
    if (!last || page.length < BRANDS_PER_PAGE) break;
    after = last.brandId;
  }
  if (audit.stopped()) return;
  const holds = await history.escrowHolds(block);
  if (holds < held) {
    const message = "the escrow holds less RWT than its brands' balances add up to";
    findings.add('escrow_holdings', { message, about: { block }, expected: held, found: holds });
  }
}

function checkAccount(
  { findings, sums, block }: Audit,
  account: Awaited<ReturnType<typeof fundsPage>>[number],
  inEscrow: bigint,
): void {
  const { brandId, promised, deposited } = account;
  const of = (which: Map<string, bigint>) => which.get(brandId.toLowerCase()) ?? 0n;
  const moved = of(sums.moved);
  const unreleased = of(sums.unreleased);
  findings.checked.brands += 1;
  const expected = moved - of(sums.paid);
  if (expected !== inEscrow) {
    const message = `the escrow holds ${inEscrow} RWT for ${brandId}, the ledger says ${expected}`;
    findings.add('escrow_balance', { message, about: { brandId, block }, expected, found: inEscrow });
  }
  if (BigInt(promised) !== unreleased) {
    findings.add('brand_promised', {
      message: `${brandId} has promised ${promised} RWT, its rewards add up to ${unreleased}`,
      about: { brandId },
      expected: unreleased,
      found: promised,
    });
  }
  if (BigInt(deposited) !== moved) {
    findings.add('brand_deposited', {
      message: `${brandId} has deposited ${deposited} RWT, its movements add up to ${moved}`,
      about: { brandId },
      expected: moved,
      found: deposited,
    });
  }
}
