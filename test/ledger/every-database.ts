/** Runs the same tests on every database that the ledger knows. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { postgresMissing, startPostgres } from '../kits/postgres.ts';

export interface Kit {
  /** Of the whole suite; each test uses keys of its own. */
  database: Database;
  /** What a second process would have: another pool on Postgres; the one owner of the file on SQLite. */
  other: Database;
  /** The SQLite file or the Postgres URL. */
  where: string;
}

export type Kind = 'SQLite file' | 'SQLite in memory' | 'Postgres';

export interface Suite {
  kind: Kind;
  kit(): Kit;
}

const missing = postgresMissing();

/** Says once for the whole run what is left out; called by one test file. */
export function sayWhatIsLeftOut() {
  if (missing) process.stderr.write(`${missing}\n`);
}

/** `migrated: false` gives empty databases. */
export function onEveryDatabase(
  suite: (on: Suite) => void,
  { kinds, migrated = true }: { kinds?: Kind[]; migrated?: boolean } = {},
) {
  const all: Kind[] = ['SQLite file', 'SQLite in memory', 'Postgres'];
  for (const kind of kinds ?? all) {
    describe.skipIf(kind === 'Postgres' && missing)(kind, () => {
      let kit: Kit | undefined;
      let close = async () => {};
      beforeAll(async () => {
        const opened = await openKind(kind);
        kit = opened.kit;
        close = opened.close;
        if (migrated) await migrate(kit.database);
      });
      afterAll(() => close());
      suite({
        kind,
        kit() {
          if (!kit) throw new Error('the database is opened before the tests and not before that');
          return kit;
        },
      });
    });
  }
}

async function openKind(kind: Kind): Promise<{ kit: Kit; close: () => Promise<void> }> {
  if (kind === 'Postgres') {
    const postgres = await startPostgres();
    const kit = {
      database: openPostgres(postgres.url),
      other: openPostgres(postgres.url),
      where: postgres.url,
    };
    return {
      kit,
      async close() {
        await Promise.all([kit.database.close(), kit.other.close()]);
        await postgres.stop();
      },
    };
  }
  const dir = await mkdtemp(join(tmpdir(), 'rewards-ledger-'));
  const where = kind === 'SQLite in memory' ? ':memory:' : join(dir, 'ledger.db');
  const database = openSqlite(where);
  return {
    kit: { database, other: database, where },
    async close() {
      await database.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Something that happens when it is told to. */
export function signal<T = void>() {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { give, given };
}

let keys = 0;
/** A key that no other test uses. */
export const freshKey = (prefix: string) => `${prefix}${++keys}`;
/** An address that no other test uses. */
export const freshAddress = (): `0x${string}` => `0x${(++keys).toString(16).padStart(40, '0')}`;
/** 32 bytes that no other test uses. */
export const freshHash = (): `0x${string}` => `0x${(++keys).toString(16).padStart(64, '0')}`;

/** The answers that were given and the errors that were thrown, of work that ran at once. */
export async function outcomes<T>(work: Promise<T>[]): Promise<{ values: T[]; errors: unknown[] }> {
  const settled = await Promise.allSettled(work);
  return {
    values: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    errors: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])),
  };
}
