/** Which wallet belongs to which user. A wallet, once written, never changes. */
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { claimCounters, claimTotals } from '../schema/rewards.ts';
import { pregeneratedUsers, wallets } from '../schema/wallets.ts';

export type Wallet = typeof wallets.$inferSelect;

export async function findWallets(db: Queries, userKeys: string[]): Promise<Map<string, Wallet>> {
  if (userKeys.length === 0) return new Map();
  const rows = await walletsOf(db, { userKeys });
  return new Map(rows.map((row) => [row.userKey, row]));
}

const walletsOf = preparedQuery((db, of: Of<{ userKeys: string[] }>) =>
  db.select().from(wallets).where(isOneOf(wallets.userKey, of.userKeys)),
);

/** The wallet with this address, lower case. A scan without an index: only developers look wallets up this way. */
export async function findWalletAt(db: Queries, address: `0x${string}`): Promise<Wallet | undefined> {
  const [row] = await db
    .select()
    .from(wallets)
    .where(eq(sql`lower(${wallets.address})`, address))
    .limit(1);
  return row;
}

/** Users whose wallets were derived here, the newest first; `below` a place in the key tree, where that is given. */
export const newestWallets = (
  db: Queries,
  { below, limit }: { below?: number | undefined; limit: number },
): Promise<Wallet[]> =>
  db
    .select()
    .from(wallets)
    .where(below === undefined ? isNotNull(wallets.derivationIndex) : lt(wallets.derivationIndex, below))
    .orderBy(desc(wallets.derivationIndex))
    .limit(limit);

/** Comes after every text that begins as the one before it. */
const LAST_SIGN = '\u{10ffff}';

/** Which keys of users are wanted: those that begin so, and come after this one. */
export interface KeyRange {
  beginning: string;
  after?: string | undefined;
}

const within = (column: typeof wallets.userKey | typeof claimCounters.userKey, range: KeyRange) =>
  and(
    gte(column, range.beginning),
    lt(column, range.beginning + LAST_SIGN),
    range.after === undefined ? undefined : gt(column, range.after),
  );

/** Users whose key begins so, in its order. */
export const walletsNamed = (db: Queries, of: KeyRange & { limit: number }): Promise<Wallet[]> =>
  db.select().from(wallets).where(within(wallets.userKey, of)).orderBy(asc(wallets.userKey)).limit(of.limit);

/**
 * Users who have claimed an event of a brand, in the order of their keys. Each event's claims are in that order already, so
 * the first few of each event are all that is read, however many users the brand has.
 */
export async function walletsOfBrand(
  db: Queries,
  of: KeyRange & { brandId: BrandId; limit: number },
): Promise<Wallet[]> {
  const { brandId, limit } = of;
  const claimed = await db
    .select({ eventType: claimTotals.eventType })
    .from(claimTotals)
    .where(eq(claimTotals.brandId, brandId));
  const userKeys = new Set<string>();
  for (const { eventType } of claimed) {
    const rows = await db
      .select({ userKey: claimCounters.userKey })
      .from(claimCounters)
      .where(
        and(
          eq(claimCounters.brandId, brandId),
          eq(claimCounters.eventType, eventType),
          within(claimCounters.userKey, of),
        ),
      )
      .orderBy(asc(claimCounters.userKey))
      .limit(limit);
    for (const { userKey } of rows) userKeys.add(userKey);
  }
  if (userKeys.size === 0) return [];
  return db
    .select()
    .from(wallets)
    .where(inArray(wallets.userKey, [...userKeys]))
    .orderBy(asc(wallets.userKey))
    .limit(limit);
}

/** The users whose wallets have these addresses, spelled as they are stored. */
export async function userKeysAt(db: Queries, addresses: `0x${string}`[]): Promise<string[]> {
  if (addresses.length === 0) return [];
  const rows = await db
    .select({ userKey: wallets.userKey })
    .from(wallets)
    .where(inArray(wallets.address, addresses));
  return rows.map(({ userKey }) => userKey);
}

/** Notes that a brand asked for a user's wallet with its key. */
export async function notePregenerated(
  db: Queries,
  user: { brandId: BrandId; userKey: string },
): Promise<void> {
  await db.insert(pregeneratedUsers).values(user).onConflictDoNothing();
}

/** A wallet, and whether this commit gave it to its user. */
export type EnsuredWallet = Wallet & { created: boolean };

/**
 * Gives each of these users a wallet, or finds the one that another request gave them meanwhile. `known` are those that
 * were found among them before. The place in the key tree is reserved in the same commit, so no two users share an address.
 */
export async function ensureWallets(
  tx: Queries,
  request: {
    userKeys: string[];
    known?: ReadonlyMap<string, Wallet> | undefined;
    addressAt: (index: number) => `0x${string}`;
    nowMs: number;
  },
): Promise<Map<string, EnsuredWallet>> {
  const { userKeys, known = await findWallets(tx, userKeys), addressAt, nowMs } = request;
  const ensured = new Map<string, EnsuredWallet>();
  const missing: string[] = [];
  for (const userKey of userKeys) {
    const wallet = known.get(userKey);
    if (wallet) ensured.set(userKey, { ...wallet, created: false });
    else missing.push(userKey);
  }
  if (missing.length === 0) return ensured;
  const first = await takeNumbers(tx, 'wallet_index', missing.length);
  const fresh = missing.sort().map((userKey, place) => ({
    userKey,
    address: addressAt(first + place),
    derivationIndex: first + place,
    createdAt: nowMs,
    created: true,
  }));
  const written = new Set((await insertWallets(tx, fresh)).map(({ userKey }) => userKey));
  for (const wallet of fresh) if (written.has(wallet.userKey)) ensured.set(wallet.userKey, wallet);
  const taken = missing.filter((userKey) => !written.has(userKey));
  for (const [userKey, wallet] of await findWallets(tx, taken))
    ensured.set(userKey, { ...wallet, created: false });
  return ensured;
}

const insertWallets = bulkInsert(wallets, (insert) =>
  insert.onConflictDoNothing().returning({ userKey: wallets.userKey }),
);

/** The wallet that was derived last; undefined before the first. */
export async function newestDerivedWallet(
  db: Queries,
): Promise<{ index: number; address: `0x${string}` } | undefined> {
  const [row] = await db
    .select({ index: wallets.derivationIndex, address: wallets.address })
    .from(wallets)
    .where(isNotNull(wallets.derivationIndex))
    .orderBy(desc(wallets.derivationIndex))
    .limit(1);
  return row?.index === null || row === undefined ? undefined : { index: row.index, address: row.address };
}
