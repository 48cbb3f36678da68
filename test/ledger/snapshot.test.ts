/** Reading at one moment, while others write. */
import { expect, test } from 'vitest';
import type { Queries } from '../../src/ledger/database/database.ts';
import { readFact, writeFact } from '../../src/ledger/facts.ts';
import { onEveryDatabase } from '../kits/databases/databases.ts';

onEveryDatabase(({ kind, kit }) => {
  const probe = async (db: Queries) => (await readFact(db, 'probe'))?.atMs;
  const write = (db: Queries, atMs: number) => writeFact(db, 'probe', { atMs });

  test('what is committed after its beginning is not in it, and is there afterwards', async () => {
    const { database } = kit();
    await write(database.db, 1);
    // In memory there is one connection: what would be written meanwhile waits.
    let later: Promise<void> | undefined;
    const seen = await database.snapshot(async (db) => {
      const first = await probe(db);
      later = write(database.db, 2);
      if (kind !== 'SQLite in memory') await later;
      return [first, await probe(db)];
    });
    expect(seen).toEqual([1, 1]);
    await later;
    expect(await probe(database.db)).toBe(2);
  });

  test('what was committed just before its first question is in it', async () => {
    const { database } = kit();
    await write(database.db, 3);
    expect(await database.snapshot(probe)).toBe(3);
  });

  test.runIf(kind === 'SQLite file')('its moment is its beginning, not its first question', async () => {
    const { database } = kit();
    await write(database.db, 7);
    const seen = await database.snapshot(async (db) => {
      await write(database.db, 8);
      return probe(db);
    });
    expect(seen).toBe(7);
  });

  test('its failure is that of its work, and the next one works', async () => {
    const { database } = kit();
    await write(database.db, 5);
    await expect(database.snapshot(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await database.snapshot(probe)).toBe(5);
    if (kind === 'SQLite in memory') return;
    await expect(database.snapshot((db) => write(db, 6))).rejects.toThrow();
    expect(await probe(database.db)).toBe(5);
  });
});
