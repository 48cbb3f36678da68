/** Every table of the schema, by the name under which it is exported: those of all ledgers, and those of the emulator alone. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isTable } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

async function tablesIn(folder: string): Promise<Record<string, PgTable>> {
  const root = join(import.meta.dirname, '../../../src/ledger', folder);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const parts = await Promise.all(files.map((file) => import(join(root, file))));
  return Object.fromEntries(
    parts.flatMap((part) => Object.entries<PgTable>(part)).filter(([, one]) => isTable(one)),
  );
}

export const everyTable = await tablesIn('schema');
export const emulatorTables = await tablesIn('emulator');
