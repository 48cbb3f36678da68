/** Every table of the schema, by the name under which it is exported. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isTable } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

const root = join(import.meta.dirname, '../../src/ledger/schema');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const parts = await Promise.all(files.map((file) => import(join(root, file))));

export const everyTable: Record<string, PgTable> = Object.fromEntries(
  parts.flatMap((part) => Object.entries<PgTable>(part)).filter(([, one]) => isTable(one)),
);
