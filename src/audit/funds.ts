/** Brands' money: what the escrow holds for each, and what their accounts say about it. */
import { auditedFunds, fundsPage, movedUpTo } from '../ledger/audit-pages.ts';
import type { Audit } from './audit.ts';

const BRANDS_PER_PAGE = 100;

export async function verifyFunds(audit: Audit): Promise<void> {
  const { database, history, block, findings, sums } = audit;
  let after = '';
  let held = 0n;
  while (!audit.stopped()) {
    const page = await fundsPage(database.db, { after, limit: BRANDS_PER_PAGE });
    for (const { brandId, promised, deposited } of page) {
      findings.checked.brands += 1;
      const found = await history.escrowOf(brandId, block);
      held += found;
      const moved = await movedUpTo(database.db, { brandId, block });
      const of = (which: Map<string, bigint>) => which.get(brandId.toLowerCase()) ?? 0n;
      const expected = moved + of(sums.redeemed) - of(sums.paid);
      if (expected !== found) {
        const message = `the escrow holds ${found} RWT for ${brandId}, the ledger says ${expected}`;
        findings.add('escrow_balance', { message, about: { brandId, block }, expected, found });
      }
      // The numbers were read at different moments, so a busy brand may seem to differ: only then is the slow, exact check made.
      const maybeOff = BigInt(promised) !== of(sums.unreleased) || BigInt(deposited) !== moved;
      if (maybeOff) await checkAccount(audit, brandId);
    }
    const last = page.at(-1);
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

async function checkAccount({ database, findings }: Audit, brandId: `0x${string}`): Promise<void> {
  const account = await auditedFunds(database.db, brandId);
  if (!account) return;
  const { promised, unreleased, deposited, moved } = account;
  if (promised !== unreleased) {
    findings.add('brand_promised', {
      message: `${brandId} has promised ${promised} RWT, its rewards add up to ${unreleased}`,
      about: { brandId },
      expected: unreleased,
      found: promised,
    });
  }
  if (deposited !== moved) {
    findings.add('brand_deposited', {
      message: `${brandId} has deposited ${deposited} RWT, its movements add up to ${moved}`,
      about: { brandId },
      expected: moved,
      found: deposited,
    });
  }
}
