/** Perks on chain against the catalogue: price, brand and sale of each, and a stock that is what was offered less what was sold. */
import { type AuditedPerk, auditedPerks, stockSetIn } from '../../ledger/perks/audited-perks.ts';
import { isUnlimited } from '../../rules/brands/brand.ts';
import { type Audit, isWhole, pagesOf } from '../audit.ts';
import type { ActivityPage } from '../chain-history.ts';

/** From the chain: what was sold of each perk, by purchase and redemption, since its stock was last set. */
export async function countPerkSales(audit: Audit, page: ActivityPage): Promise<void> {
  const touched = page.activities.filter(({ perks }) => perks.length > 0);
  if (touched.length === 0) return;
  const set = await stockSetIn(
    audit.db,
    touched.map(({ transactionHash }) => transactionHash),
  );
  const began = new Set(set.map(({ hash, tokenId }) => `${hash} ${tokenId}`));
  for (const { transactionHash, perks } of touched) {
    for (const { tokenId, isSale } of perks) {
      const sold = audit.seen.perksSold.get(tokenId) ?? 0;
      if (isSale) audit.seen.perksSold.set(tokenId, sold + 1);
      else if (began.has(`${transactionHash} ${tokenId}`)) audit.seen.perksSold.set(tokenId, 0);
    }
  }
}

/** What the contract has not been told yet cannot be compared; stocks only where every sale was read. */
export async function verifyPerks(audit: Audit): Promise<void> {
  const { block } = audit;
  const read = (db: Audit['db'], page: { after: string; limit: number }) =>
    auditedPerks(db, { ...page, block });
  for await (const page of pagesOf(audit, read, ({ id }) => id)) {
    for (const perk of page) if (perk.isTold && !audit.stopped()) await checkPerk(audit, perk);
  }
}

async function checkPerk(audit: Audit, perk: AuditedPerk): Promise<void> {
  const { findings, history, block } = audit;
  const { id, tokenId, brandId, cost, active, stock } = perk;
  const onChain = await history.perkAt(tokenId, block);
  const about = { perk: id, tokenId, brandId, block };
  const text = (of: { price: bigint | number; brand: string; active: boolean }) =>
    `${of.price} RWT to ${of.brand.toLowerCase()}, ${of.active ? 'on sale' : 'not on sale'}`;
  const [expected, found] = [text({ price: cost, brand: brandId, active }), text(onChain)];
  if (expected !== found) {
    const message = `perk ${tokenId} is sold on other terms than the catalogue has`;
    findings.add('perk_terms', { message, about, expected, found });
  }
  if (!isWhole(audit)) return;
  const left = isUnlimited(stock) ? undefined : BigInt(stock - (audit.seen.perksSold.get(tokenId) ?? 0));
  if (left === onChain.stock) return;
  findings.add('perk_stock', {
    message: `what the contract has left of perk ${tokenId} is not what was offered less what was sold`,
    about,
    expected: left ?? 'no limit',
    found: onChain.stock ?? 'no limit',
  });
}
