/** What brands' servers said about buyers, kept until it expires or is invalidated; all processes share it. */
import { and, desc, eq, gt, isNotNull, lte, type SQL, sql } from 'drizzle-orm';
import type { BrandId } from '../rules/brands/brand.ts';
import type { Queries, SqlTime } from './database/database.ts';
import { isOneOf, type Of, preparedQuery } from './database/prepared-query.ts';
import { constraintResults } from './schema/engagement/constraints.ts';

export interface ResultKey {
  brandId: BrandId;
  url: string;
  /** Lower case. */
  userAddress: `0x${string}`;
  collectionId: number;
}

/** What the brand's server said; `message` is its own reason for a no. */
export interface KeptResult {
  isMet: boolean;
  message: string | null;
}

const keyed = ({ brandId, url, userAddress, collectionId }: ResultKey) =>
  and(
    eq(constraintResults.brandId, brandId),
    eq(constraintResults.url, url),
    eq(constraintResults.userAddress, userAddress),
    eq(constraintResults.collectionId, collectionId),
  );
const live = (now: SqlTime) => and(isNotNull(constraintResults.isMet), gt(constraintResults.expiresAt, now));

/** A result that still counts. */
export async function findResult(
  db: Queries,
  { now, ...key }: ResultKey & { now: SqlTime },
): Promise<KeptResult | undefined> {
  const { isMet, message } = constraintResults;
  const [row] = await db
    .select({ isMet, message })
    .from(constraintResults)
    .where(and(keyed(key), live(now)));
  return row && { isMet: row.isMet === true, message: row.message };
}

/** Whether a question is still the latest one about its key: one that was invalidated is not. */
export async function isLatestQuestion(db: Queries, of: ResultKey & { askedBy: string }): Promise<boolean> {
  const [row] = await db
    .select({ askedBy: constraintResults.askedBy })
    .from(constraintResults)
    .where(keyed(of));
  return row?.askedBy === of.askedBy;
}

/** Notes that a question is under way, before it is asked: an invalidation meanwhile deletes the note. */
export async function beginQuestion(
  db: Queries,
  { now, forMs, askedBy, ...key }: ResultKey & { askedBy: string; now: SqlTime; forMs: number },
): Promise<void> {
  const question = {
    askedBy,
    isMet: null,
    message: null,
    standing: null,
    expiresAt: sql<number>`${now} + ${forMs}`,
  };
  await db
    .insert(constraintResults)
    .values({ ...key, ...question })
    .onConflictDoUpdate({
      target: [
        constraintResults.brandId,
        constraintResults.url,
        constraintResults.userAddress,
        constraintResults.collectionId,
      ],
      set: question,
    });
}

/** Keeps the answer, unless the key was invalidated or asked about again since the question began. */
export async function keepAnswer(
  db: Queries,
  {
    now,
    ttlMs,
    askedBy,
    result,
    standing,
    ...key
  }: ResultKey & {
    askedBy: string;
    result: KeptResult;
    /** How the buyer stood in the chats; null where no look compares it. */
    standing: string | null;
    now: SqlTime;
    ttlMs: number;
  },
): Promise<void> {
  await db
    .update(constraintResults)
    .set({ ...result, standing, expiresAt: sql<number>`${now} + ${ttlMs}` })
    .where(and(keyed(key), eq(constraintResults.askedBy, askedBy)));
}

/** Takes the note of a question back that got no answer. */
export async function dropQuestion(db: Queries, of: ResultKey & { askedBy: string }): Promise<void> {
  await db.delete(constraintResults).where(and(keyed(of), eq(constraintResults.askedBy, of.askedBy)));
}

/**
 * Forgets the results of a brand's URL, or of one user or perk of it; questions under way will not be kept. Returns
 * how many results no longer count that did before.
 */
export function invalidateUrl(
  tx: Queries,
  {
    now,
    brandId,
    url,
    userAddress,
    collectionId,
  }: Pick<ResultKey, 'brandId' | 'url'> & Partial<ResultKey> & { now: SqlTime },
): Promise<number> {
  return forget(
    tx,
    and(
      eq(constraintResults.brandId, brandId),
      eq(constraintResults.url, url),
      userAddress === undefined ? undefined : eq(constraintResults.userAddress, userAddress),
      collectionId === undefined ? undefined : eq(constraintResults.collectionId, collectionId),
    ),
    now,
  );
}

/** Whether anything is known of anybody, questions under way included. */
export async function areThereResults(db: Queries): Promise<boolean> {
  const [one] = await oneResult(db, {});
  return one !== undefined;
}

const oneResult = preparedQuery((db) =>
  db.select({ expiresAt: constraintResults.expiresAt }).from(constraintResults).limit(1),
);

/** Forgets all results of these users (lower case), of every brand; their questions under way will not be kept. */
export async function invalidateUsers(tx: Queries, userAddresses: `0x${string}`[]): Promise<void> {
  if (userAddresses.length > 0) await deleteOfUsers(tx, { userAddresses });
}

const deleteOfUsers = preparedQuery((db, of: Of<{ userAddresses: string[] }>) =>
  db.delete(constraintResults).where(isOneOf(constraintResults.userAddress, of.userAddresses)),
);

/** Forgets what is known about everybody. */
export async function invalidateEverybody(tx: Queries): Promise<void> {
  await tx.delete(constraintResults);
}

async function forget(tx: Queries, which: SQL | undefined, now: SqlTime): Promise<number> {
  const counted = await tx
    .delete(constraintResults)
    .where(and(which, live(now)))
    .returning({ url: constraintResults.url });
  await tx.delete(constraintResults).where(which);
  return counted.length;
}

/** Results that count and know how their buyer stood in the chats, the youngest first. */
export const resultsWithStanding = (
  db: Queries,
  { now, limit }: { now: SqlTime; limit: number },
): Promise<{ brandId: BrandId; userAddress: `0x${string}` }[]> =>
  db
    .select({ brandId: constraintResults.brandId, userAddress: constraintResults.userAddress })
    .from(constraintResults)
    .where(and(live(now), isNotNull(constraintResults.standing)))
    .orderBy(desc(constraintResults.expiresAt))
    .limit(limit);

/** Forgets a user's results that rest on another standing in the chats. */
export async function invalidateOtherStandings(
  db: Queries,
  { brandId, userAddress, standing }: Pick<ResultKey, 'brandId' | 'userAddress'> & { standing: string },
): Promise<void> {
  await db
    .delete(constraintResults)
    .where(
      and(
        eq(constraintResults.brandId, brandId),
        eq(constraintResults.userAddress, userAddress),
        sql`${constraintResults.standing} <> ${standing}`,
      ),
    );
}

/** Deletes what has expired: results, and questions of processes that died. */
export async function deleteExpiredResults(db: Queries, now: SqlTime): Promise<void> {
  await db.delete(constraintResults).where(lte(constraintResults.expiresAt, now));
}
