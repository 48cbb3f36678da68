/** Under which names a brand knows its users: each alias is one user's, and of one brand. */
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import { mergedStreak } from '../../rules/engagement/streak.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brands } from '../schema/brands.ts';
import { streaks } from '../schema/engagement/user-progress.ts';
import { brandFunds } from '../schema/rewards.ts';
import { userAliases } from '../schema/wallets.ts';

export type UserAlias = typeof userAliases.$inferSelect;

/** A user as a request names them. */
export interface NamedUser {
  brandId: BrandId;
  userKey: string;
}

/** The keys under which the ledger has one user: the first is the user's own, the others are aliases. */
export type UserKeys = readonly [userKey: string, ...aliases: string[]];

const textOf = ({ brandId, userKey }: NamedUser) => `${brandId} ${userKey}`;

/** The keys of each of these users; of one who has no alias, the one by which they were named. */
export async function keysOfUsers(
  db: Queries,
  users: readonly NamedUser[],
): Promise<(user: NamedUser) => UserKeys> {
  if (users.length === 0) return ({ userKey }) => [userKey];
  const rows = await aliasesOf(db, {
    brandIds: [...new Set(users.map(({ brandId }) => brandId))],
    userKeys: [...new Set(users.map(({ userKey }) => userKey))],
  });
  const owners = new Map<string, string>();
  const aliases = new Map<string, string[]>();
  for (const { brandId, aliasKey, userKey } of rows) {
    owners.set(textOf({ brandId, userKey: aliasKey }), userKey);
    const owner = textOf({ brandId, userKey });
    aliases.set(owner, [...(aliases.get(owner) ?? []), aliasKey]);
  }
  return (user) => {
    const userKey = owners.get(textOf(user)) ?? user.userKey;
    return [userKey, ...(aliases.get(textOf({ ...user, userKey })) ?? [])];
  };
}

/** All aliases of the users who have one of the keys, or are meant by one. */
const aliasesOf = preparedQuery((db, of: Of<{ brandIds: BrandId[]; userKeys: string[] }>) => {
  const ofBrands = isOneOf(userAliases.brandId, of.brandIds);
  const owners = db
    .select({ userKey: userAliases.userKey })
    .from(userAliases)
    .where(
      and(
        ofBrands,
        sql`(${isOneOf(userAliases.aliasKey, of.userKeys)} or ${isOneOf(userAliases.userKey, of.userKeys)})`,
      ),
    );
  return db
    .select()
    .from(userAliases)
    .where(and(ofBrands, sql`${userAliases.userKey} in ${owners}`))
    .orderBy(asc(userAliases.createdAt), asc(userAliases.aliasKey));
});

export async function findAlias(
  db: Queries,
  of: { brandId: BrandId; aliasKey: string },
): Promise<UserAlias | undefined> {
  const [row] = await db
    .select()
    .from(userAliases)
    .where(and(eq(userAliases.brandId, of.brandId), eq(userAliases.aliasKey, of.aliasKey)));
  return row;
}

/** A brand's aliases in the order of their names, in pages. */
export const listAliases = (db: Queries, of: { brandId: BrandId; after: string; limit: number }) =>
  db
    .select()
    .from(userAliases)
    .where(and(eq(userAliases.brandId, of.brandId), gt(userAliases.aliasKey, of.after)))
    .orderBy(asc(userAliases.aliasKey))
    .limit(of.limit);

/**
 * Makes a name an alias of a user, with the names that were aliases of it, and lets the user's streaks go on from the better of
 * both. The caller holds the lock on the brand's funds, under which everything that pays is decided.
 */
export async function saveAlias(tx: Queries, alias: UserAlias): Promise<void> {
  const { brandId, aliasKey, userKey } = alias;
  await tx.insert(userAliases).values(alias);
  await tx
    .update(userAliases)
    .set({ userKey })
    .where(and(eq(userAliases.brandId, brandId), eq(userAliases.userKey, aliasKey)));
  await mergeStreaks(tx, { brandId, from: aliasKey, to: userKey });
  await noteChange(tx, brandId);
}

/** From now on the alias is a user of its own again; false where there is none. */
export async function deleteAlias(tx: Queries, of: { brandId: BrandId; aliasKey: string }): Promise<boolean> {
  const gone = await tx
    .delete(userAliases)
    .where(and(eq(userAliases.brandId, of.brandId), eq(userAliases.aliasKey, of.aliasKey)))
    .returning({ aliasKey: userAliases.aliasKey });
  if (gone.length > 0) await noteChange(tx, of.brandId);
  return gone.length > 0;
}

/** Whoever decides with what was read before notices it, in every process: the two numbers differ. */
async function noteChange(tx: Queries, brandId: BrandId): Promise<void> {
  await tx
    .update(brands)
    .set({ aliases: sql`${brands.aliases} + 1` })
    .where(eq(brands.brandId, brandId));
  await tx
    .update(brandFunds)
    .set({ aliases: sql`${brandFunds.aliases} + 1` })
    .where(eq(brandFunds.brandId, brandId));
}

async function mergeStreaks(
  tx: Queries,
  { brandId, from, to }: { brandId: BrandId; from: string; to: string },
): Promise<void> {
  const ofUser = (userKey: string) =>
    tx
      .select()
      .from(streaks)
      .where(and(eq(streaks.brandId, brandId), eq(streaks.userKey, userKey)));
  const own = new Map((await ofUser(to)).map((row) => [row.streakType, row]));
  for (const row of await ofUser(from)) {
    const merged = mergedStreak(row, own.get(row.streakType));
    await tx
      .insert(streaks)
      .values({ ...row, ...merged, userKey: to })
      .onConflictDoUpdate({
        target: [streaks.brandId, streaks.userKey, streaks.streakType],
        set: merged,
      });
  }
}
