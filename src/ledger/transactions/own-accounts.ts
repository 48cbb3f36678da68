/** The accounts that the service itself sends from, as this ledger knows them. */
import { inArray, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { gasWallets } from '../schema/relay.ts';
import { lanes } from '../schema/transactions.ts';

/** Of these addresses, in lower case, the ones that a lane sends from or that pay a brand's gas. */
export async function ownAccountsAmong(db: Queries, addresses: string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const sending = await db
    .select({ address: lanes.address })
    .from(lanes)
    .where(inArray(sql`lower(${lanes.address})`, addresses));
  const paying = await db
    .select({ address: gasWallets.address })
    .from(gasWallets)
    .where(inArray(sql`lower(${gasWallets.address})`, addresses));
  return new Set([...sending, ...paying].map(({ address }) => address.toLowerCase()));
}
