/** Whether `serve` or `start` has used a ledger; each refuses what the other has written. */

import type { Database } from './database/database.ts';
import { readFact } from './facts.ts';
import { brands } from './schema/brands.ts';

/**
 * `emulator`: it has an adjustable clock, which `serve` writes before anything else. `production`: it has brands or a
 * chain and no such clock. `nobody`: it is empty.
 */
export interface LedgerOwner {
  owner: 'emulator' | 'production' | 'nobody';
  /** The chain that it was written for, if any. */
  chainId?: number | undefined;
}

/** Changes nothing, and works on a database that still lacks migrations, or all tables. */
export async function readLedgerOwner(database: Database): Promise<LedgerOwner> {
  const tables = await database.tables();
  if (!tables.has('facts')) return { owner: 'nobody' };
  const [clock, chain] = [await readFact(database.db, 'clock'), await readFact(database.db, 'chain')];
  if (clock) return { owner: 'emulator', chainId: chain?.chainId };
  if (chain) return { owner: 'production', chainId: chain.chainId };
  if (!tables.has('brands')) return { owner: 'nobody' };
  const [brand] = await database.db.select({ brandId: brands.brandId }).from(brands).limit(1);
  return { owner: brand ? 'production' : 'nobody' };
}
