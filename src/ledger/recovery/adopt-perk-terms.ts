/** What the contract was told of perks and the ledger lost: terms that wait are bound, others change the catalogue. */
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { type BrandId, isUnlimited } from '../../rules/brands/brand.ts';
import type { PerkTerms } from '../../rules/perks/perk.ts';
import type { Queries } from '../database/database.ts';
import { perks, perkTerms } from '../schema/engagement/perks.ts';

/** Terms as their calldata has them; `terms` and `stock` leave out what they do not say. */
export interface FoundTerms {
  tokenId: number;
  kind: PerkTerms['kind'];
  price?: number;
  active?: boolean;
  brandId?: BrandId;
  stock: number;
}

type Perk = typeof perks.$inferSelect;

export async function perkOfToken(tx: Queries, tokenId: number): Promise<Perk | undefined> {
  const [row] = await tx.select().from(perks).where(eq(perks.tokenId, tokenId));
  return row;
}

const waits = and(isNull(perkTerms.transactionId), isNull(perkTerms.failure));

/** Binds the waiting terms that say the same; false when none do. */
export async function bindWaitingTerms(
  tx: Queries,
  found: FoundTerms,
  transactionId: string,
): Promise<boolean> {
  const rows = await tx
    .select()
    .from(perkTerms)
    .where(and(eq(perkTerms.tokenId, found.tokenId), waits))
    .orderBy(asc(perkTerms.position));
  const same = rows.find(
    (row) =>
      row.kind === found.kind &&
      row.stock === found.stock &&
      (found.price ?? row.price) === row.price &&
      (found.active ?? row.active) === row.active,
  );
  if (!same) return false;
  await tx
    .update(perkTerms)
    .set({ transactionId })
    .where(and(eq(perkTerms.tokenId, same.tokenId), eq(perkTerms.position, same.position)));
  return true;
}

/** A perk that was added in what the ledger lost, as far as the chain knows it. */
export async function adoptPerk(
  tx: Queries,
  of: Pick<Perk, 'id' | 'brandId' | 'tokenId' | 'cost' | 'stock' | 'active' | 'createdAt'>,
): Promise<Perk> {
  const perk: Perk = {
    ...of,
    name: `Recovered perk ${of.tokenId}`,
    description:
      'Its name, description, picture and constraints were lost: see to them before it is sold again.',
    category: 'digital',
    image: null,
    metadata: {},
    constraints: [],
  };
  await tx.insert(perks).values(perk);
  return perk;
}

/** Writes terms that the contract was told of, and what they change in the catalogue. */
export async function adoptTerms(
  tx: Queries,
  { perk, found }: { perk: Perk; found: FoundTerms },
  of: { transactionId: string | null; createdAt: number },
): Promise<void> {
  const { tokenId, id: perkId, brandId } = perk;
  const [rows] = await tx
    .select({ last: sql<number | null>`max(${perkTerms.position})` })
    .from(perkTerms)
    .where(eq(perkTerms.tokenId, tokenId));
  await tx.insert(perkTerms).values({
    tokenId,
    position: Number(rows?.last ?? 0) + 1,
    perkId,
    brandId,
    kind: found.kind,
    price: found.price ?? perk.cost,
    active: found.active ?? perk.active,
    stock: found.stock,
    createdAt: of.createdAt,
    transactionId: of.transactionId,
    failedTries: 0,
  });
}

/** Brings the catalogue to what terms on chain say, as far as nothing that waits says otherwise. */
export async function applyTerms(
  tx: Queries,
  { perk, found }: { perk: Perk; found: FoundTerms },
): Promise<void> {
  const { tokenId } = perk;
  if (found.kind === 'stock') {
    if (isUnlimited(perk.stock)) return;
    await tx
      .update(perks)
      .set({ stock: sql`${perks.stock} + ${found.stock}` })
      .where(eq(perks.tokenId, tokenId));
    return;
  }
  const waiting = await tx
    .select({ position: perkTerms.position })
    .from(perkTerms)
    .where(and(eq(perkTerms.tokenId, tokenId), waits))
    .limit(1);
  if (waiting.length > 0) return;
  await tx
    .update(perks)
    .set({
      cost: found.price ?? perk.cost,
      active: found.active ?? perk.active,
      ...(found.kind === 'set' && { stock: found.stock }),
    })
    .where(eq(perks.tokenId, tokenId));
}

/** Takes a perk off sale, and queues that for the contract; one that is off already is left as it is. */
export async function turnPerkOff(tx: Queries, of: { tokenId: number; nowMs: number }): Promise<void> {
  const [perk] = await tx
    .update(perks)
    .set({ active: false })
    .where(and(eq(perks.tokenId, of.tokenId), eq(perks.active, true)))
    .returning();
  if (!perk) return;
  const found = { tokenId: of.tokenId, kind: 'terms' as const, price: perk.cost, active: false, stock: 0 };
  await adoptTerms(tx, { perk, found }, { transactionId: null, createdAt: of.nowMs });
}
