/** Single facts about this ledger, each under a name; among them whose it is. */
import { eq } from 'drizzle-orm';
import type { Database, Queries } from './database/database.ts';
import { brands } from './schema/brands.ts';
import { facts } from './schema/facts-and-counters.ts';

/** Each fact's name and shape. */
export interface Facts {
  /** The chain that this ledger belongs to: its id, its first block, and where our contracts are. */
  chain: {
    chainId: number;
    genesisHash: `0x${string}`;
    deploymentBlock: number;
    contracts: {
      token: `0x${string}`;
      escrow: `0x${string}`;
      perks: `0x${string}`;
      pointsSale: `0x${string}`;
    };
  };
  /** When a probe last wrote: that a ledger can be read does not say that its disk has room. */
  probe: { atMs: number };
  /** How the emulator's clock stood when it was last moved. */
  clock: { offsetMs: number; frozenAtMs: number | null };
  /** Private keys of the emulator's own identity provider (RFC 7517), the one that signs first. */
  identityKeys: { kid: string; [part: string]: unknown }[];
}

export async function readFact<N extends keyof Facts>(db: Queries, name: N): Promise<Facts[N] | undefined> {
  const [row] = await db.select().from(facts).where(eq(facts.name, name));
  return row?.value as Facts[N] | undefined;
}

export async function writeFact<N extends keyof Facts>(db: Queries, name: N, value: Facts[N]): Promise<void> {
  await db.insert(facts).values({ name, value }).onConflictDoUpdate({ target: facts.name, set: { value } });
}

/** Resolves to true when the ledger can be read. */
export async function ledgerAnswers(db: Queries): Promise<boolean> {
  await db.select({ name: facts.name }).from(facts).limit(1);
  return true;
}

/** Resolves to true when the ledger can be written. */
export async function ledgerWrites(db: Queries, nowMs: number): Promise<boolean> {
  await writeFact(db, 'probe', { atMs: nowMs });
  return true;
}

// Whether `serve` or `start` has used a ledger; each refuses what the other has written.

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
