/** The accounts that the service itself sends from, as this ledger knows them. */
import { sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { gasWallets } from '../schema/relay.ts';
import { lanes } from '../schema/transactions.ts';

/** Of these addresses, in lower case, the ones that a lane sends from or that pay a brand's gas. */
export async function ownAccountsAmong(db: Queries, addresses: string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const own = await ownAmong(db, { addresses });
  return new Set(own.map(({ address }) => address));
}

const ownAmong = preparedQuery((db, of: Of<{ addresses: string[] }>) =>
  db
    .select({ address: sql<string>`lower(own.address)` })
    .from(
      sql`(select ${lanes.address} as address from ${lanes} union all select ${gasWallets.address} from ${gasWallets}) as own`,
    )
    .where(isOneOf(sql`lower(own.address)`, of.addresses)),
);
