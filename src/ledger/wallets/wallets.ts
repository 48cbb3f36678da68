/** Which wallet belongs to which user. A wallet, once written, never changes. */
import { desc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { pregeneratedUsers, wallets } from '../schema/wallets.ts';

export type Wallet = typeof wallets.$inferSelect;

export async function findWallets(db: Queries, userKeys: string[]): Promise<Map<string, Wallet>> {
  if (userKeys.length === 0) return new Map();
  const rows = await db.select().from(wallets).where(inArray(wallets.userKey, userKeys));
  return new Map(rows.map((row) => [row.userKey, row]));
}

/** The wallet with this address, lower case. A scan without an index: only developers look wallets up this way. */
export async function findWalletAt(db: Queries, address: `0x${string}`): Promise<Wallet | undefined> {
  const [row] = await db
    .select()
    .from(wallets)
    .where(eq(sql`lower(${wallets.address})`, address))
    .limit(1);
  return row;
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

/**
 * Gives each of these users a wallet, or finds the one that another request gave them meanwhile.
 * The place in the key tree is reserved in the same commit, so no two users share an address.
 */
export async function ensureWallets(
  tx: Queries,
  request: { userKeys: string[]; addressAt: (index: number) => `0x${string}`; nowMs: number },
): Promise<Map<string, Wallet & { created: boolean }>> {
  const found = await findWallets(tx, request.userKeys);
  const missing = request.userKeys.filter((userKey) => !found.has(userKey)).sort();
  const created = new Set<string>();
  if (missing.length > 0) {
    const first = await takeNumbers(tx, 'wallet_index', missing.length);
    const fresh = missing.map((userKey, place) => ({
      userKey,
      address: request.addressAt(first + place),
      derivationIndex: first + place,
      createdAt: request.nowMs,
    }));
    const written = await tx.insert(wallets).values(fresh).onConflictDoNothing().returning();
    for (const wallet of written) {
      created.add(wallet.userKey);
      found.set(wallet.userKey, wallet);
    }
    const taken = missing.filter((userKey) => !created.has(userKey));
    for (const [userKey, wallet] of await findWallets(tx, taken)) found.set(userKey, wallet);
  }
  return new Map(
    [...found].map(([userKey, wallet]) => [userKey, { ...wallet, created: created.has(userKey) }]),
  );
}

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
