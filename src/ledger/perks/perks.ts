/** The catalogue: what each brand offers for RWT. */
import { and, asc, eq, inArray, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { perks } from '../schema/engagement/perks.ts';

export type StoredPerk = typeof perks.$inferSelect;

/** A brand's perk by its UUID, active or not. */
export async function findPerk(
  db: Queries,
  { brandId, perkId }: { brandId: BrandId; perkId: string },
): Promise<StoredPerk | undefined> {
  const [found] = await db
    .select()
    .from(perks)
    .where(and(eq(perks.id, perkId.toLowerCase()), eq(perks.brandId, brandId)));
  return found;
}

/** The perk that is this token on chain. */
export async function findPerkByToken(db: Queries, tokenId: number): Promise<StoredPerk | undefined> {
  const [found] = await findPerksByTokens(db, [tokenId]);
  return found;
}

/** The same for several tokens, in no order. */
export const findPerksByTokens = (db: Queries, tokenIds: number[]): Promise<StoredPerk[]> =>
  perksOf(db, { tokenIds });

const perksOf = preparedQuery((db, of: Of<{ tokenIds: number[] }>) =>
  db.select().from(perks).where(isOneOf(perks.tokenId, of.tokenIds)),
);

/** All perks of a brand, active or not, in the order of their tokens. */
export const listPerks = (db: Queries, brandId: BrandId): Promise<StoredPerk[]> =>
  db.select().from(perks).where(eq(perks.brandId, brandId)).orderBy(asc(perks.tokenId));

/** Whether a brand offers a perk. */
export const arePerksOffered = async (db: Queries): Promise<boolean> =>
  (await db.select({ id: perks.id }).from(perks).limit(1)).length > 0;

/** Adds a perk; false, and nothing changed, when its id or its token is another perk's. */
export async function addPerk(db: Queries, perk: StoredPerk): Promise<boolean> {
  const added = await db.insert(perks).values(perk).onConflictDoNothing().returning({ id: perks.id });
  return added.length === 1;
}

/** Perks that have one of these ids or tokens. */
export async function perksInTheWay(
  db: Queries,
  of: readonly Pick<StoredPerk, 'id' | 'tokenId'>[],
): Promise<StoredPerk[]> {
  if (of.length === 0) return [];
  const ids = of.map(({ id }) => id);
  const tokens = of.map(({ tokenId }) => tokenId);
  return db
    .select()
    .from(perks)
    .where(or(inArray(perks.id, ids), inArray(perks.tokenId, tokens)));
}

const TOKEN = /^[1-9]\d{0,14}$/;

/** The perk that a person names: by its UUID, or by the number of its token. */
export async function findNamedPerk(db: Queries, name: string): Promise<StoredPerk | undefined> {
  if (TOKEN.test(name)) return findPerkByToken(db, Number(name));
  const [found] = await db.select().from(perks).where(eq(perks.id, name.toLowerCase()));
  return found;
}

/** The highest token of any perk; 0 without one. */
export async function highestToken(db: Queries): Promise<number> {
  const [row] = await db.select({ most: sql<string | number | null>`max(${perks.tokenId})` }).from(perks);
  return Number(row?.most ?? 0);
}

/** Overwrites a perk's settings; brand, token and time of its making stay. */
export async function savePerk(db: Queries, perk: StoredPerk): Promise<void> {
  const { id, brandId: _, tokenId: __, createdAt: ___, ...settings } = perk;
  await db.update(perks).set(settings).where(eq(perks.id, id));
}
