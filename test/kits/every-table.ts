/** Every table of the schema, by the name under which it is exported. */
import { readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { isTable } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

const files = readdirSync(join(import.meta.dirname, '../../src/ledger/schema'));
const parts = await Promise.all(
  files.map((file) => import(`../../src/ledger/schema/${parse(file).name}.ts`)),
);

export const everyTable: Record<string, PgTable> = Object.fromEntries(
  parts.flatMap((part) => Object.entries<PgTable>(part)).filter(([, one]) => isTable(one)),
);
