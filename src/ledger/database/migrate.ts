/** Brings a database to the newest schema, one numbered file after the other, each in a commit of its own. */
import { asc, sql as statement } from 'drizzle-orm';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { type Database, isDuplicateTable, isUniqueViolation, type Queries, tryAgain } from './database.ts';
import ledger from './migrations/2026-11/0001-ledger.sql';
import relay from './migrations/2026-11/0002-relay.sql';
import domainOwners from './migrations/2026-11/0003-domain-owners.sql';
import answerHeaders from './migrations/2026-11/0004-answer-headers.sql';
import brandSpending from './migrations/2026-11/0005-brand-spending.sql';
import gasCharges from './migrations/2026-11/0006-gas-charges.sql';
import operatorMintsTable from './migrations/2026-11/0007-operator-mints.sql';
import refusedAttempts from './migrations/2026-11/0008-refused-attempts.sql';
import requestTraces from './migrations/2026-11/0009-request-traces.sql';
import acceptedNonces from './migrations/2026-11/0010-accepted-nonces.sql';
import domainMisses from './migrations/2026-11/0011-domain-misses.sql';
import payments from './migrations/2026-11/0012-payments.sql';
import webhooks from './migrations/2026-11/0013-webhooks.sql';
import emulatedProcessor from './migrations/2026-11/0014-emulated-processor.sql';
import perks from './migrations/2026-11/0015-perks.sql';
import redemptionConsent from './migrations/2026-11-consent/0031-redemption-consent.sql';
import refusedWork from './migrations/2026-11-consent/0032-refused-work.sql';
import mintsOfOthers from './migrations/2026-11-consent/0033-mints-of-others.sql';
import onceClaims from './migrations/2026-11-consent/0034-once-claims.sql';
import userAliases from './migrations/2026-11-consent/0035-user-aliases.sql';
import openCheckouts from './migrations/2026-11-consent/0036-open-checkouts.sql';
import retiredLanes from './migrations/2026-11-consent/0037-retired-lanes.sql';
import recoveries from './migrations/2026-11-consent/0038-recoveries.sql';
import tracesByDayPostgres from './migrations/2026-11-consent/0039-traces-by-day.postgres.sql';
import tracesByDay from './migrations/2026-11-consent/0039-traces-by-day.sql';
import consumers from './migrations/2026-11-consumers/0041-consumers.sql';
import signedAt from './migrations/2026-11-consumers/0042-signed-at.sql';
import streakDays from './migrations/2026-11-consumers/0043-streak-days.sql';
import leaderboards from './migrations/2026-11-engagement/0016-leaderboards.sql';
import constraintResults from './migrations/2026-11-engagement/0017-constraint-results.sql';
import leaderboardCounting from './migrations/2026-11-engagement/0018-leaderboard-counting.sql';
import redemptions from './migrations/2026-11-engagement/0019-redemptions.sql';
import leaderboardReports from './migrations/2026-11-engagement/0020-leaderboard-reports.sql';
import streaks from './migrations/2026-11-engagement/0021-streaks.sql';
import perkTerms from './migrations/2026-11-engagement/0022-perk-terms.sql';
import chatStandings from './migrations/2026-11-engagement/0023-chat-standings.sql';
import achievements from './migrations/2026-11-engagement/0024-achievements.sql';
import userActivity from './migrations/2026-11-engagement/0025-user-activity.sql';
import achievementMetric from './migrations/2026-11-engagement/0026-achievement-metric.sql';
import redemptionsShown from './migrations/2026-11-engagement/0027-redemptions-shown.sql';
import lighterLeaderboards from './migrations/2026-11-engagement/0028-lighter-leaderboards.sql';
import transactionsByBlock from './migrations/2026-11-engagement/0029-transactions-by-block.sql';
import tracesByPlace from './migrations/2026-11-engagement/0030-traces-by-place.sql';
import noEmulatorTablesPostgres from './migrations/2026-11-house/0040-no-emulator-tables.postgres.sql';
import noEmulatorTables from './migrations/2026-11-house/0040-no-emulator-tables.sql';

/** In order; a file that has been released is never edited, only followed by another. */
export const migrations: readonly Migration[] = [
  { number: 1, name: '0001-ledger', sql: ledger },
  { number: 2, name: '0002-relay', sql: relay },
  { number: 3, name: '0003-domain-owners', sql: domainOwners },
  { number: 4, name: '0004-answer-headers', sql: answerHeaders },
  { number: 5, name: '0005-brand-spending', sql: brandSpending },
  { number: 6, name: '0006-gas-charges', sql: gasCharges },
  { number: 7, name: '0007-operator-mints', sql: operatorMintsTable },
  { number: 8, name: '0008-refused-attempts', sql: refusedAttempts },
  { number: 9, name: '0009-request-traces', sql: requestTraces },
  { number: 10, name: '0010-accepted-nonces', sql: acceptedNonces },
  { number: 11, name: '0011-domain-misses', sql: domainMisses },
  { number: 12, name: '0012-payments', sql: payments },
  { number: 13, name: '0013-webhooks', sql: webhooks },
  { number: 14, name: '0014-emulated-processor', sql: emulatedProcessor },
  { number: 15, name: '0015-perks', sql: perks },
  { number: 16, name: '0016-leaderboards', sql: leaderboards },
  { number: 17, name: '0017-constraint-results', sql: constraintResults },
  { number: 18, name: '0018-leaderboard-counting', sql: leaderboardCounting },
  { number: 19, name: '0019-redemptions', sql: redemptions },
  { number: 20, name: '0020-leaderboard-reports', sql: leaderboardReports },
  { number: 21, name: '0021-streaks', sql: streaks },
  { number: 22, name: '0022-perk-terms', sql: perkTerms },
  { number: 23, name: '0023-chat-standings', sql: chatStandings },
  { number: 24, name: '0024-achievements', sql: achievements },
  { number: 25, name: '0025-user-activity', sql: userActivity },
  { number: 26, name: '0026-achievement-metric', sql: achievementMetric },
  { number: 27, name: '0027-redemptions-shown', sql: redemptionsShown },
  { number: 28, name: '0028-lighter-leaderboards', sql: lighterLeaderboards },
  { number: 29, name: '0029-transactions-by-block', sql: transactionsByBlock },
  { number: 30, name: '0030-traces-by-place', sql: tracesByPlace },
  { number: 31, name: '0031-redemption-consent', sql: redemptionConsent },
  { number: 32, name: '0032-refused-work', sql: refusedWork },
  { number: 33, name: '0033-mints-of-others', sql: mintsOfOthers },
  { number: 34, name: '0034-once-claims', sql: onceClaims },
  { number: 35, name: '0035-user-aliases', sql: userAliases },
  { number: 36, name: '0036-open-checkouts', sql: openCheckouts },
  { number: 37, name: '0037-retired-lanes', sql: retiredLanes },
  { number: 38, name: '0038-recoveries', sql: recoveries },
  { number: 39, name: '0039-traces-by-day', sql: tracesByDay, postgres: tracesByDayPostgres },
  {
    number: 40,
    name: '0040-no-emulator-tables',
    sql: noEmulatorTables,
    postgres: noEmulatorTablesPostgres,
    keepsRows: true,
  },
  { number: 41, name: '0041-consumers', sql: consumers },
  { number: 42, name: '0042-signed-at', sql: signedAt },
  { number: 43, name: '0043-streak-days', sql: streakDays },
];

/** The number of the newest migration that this program knows. */
export const newestMigration = migrations.at(-1)?.number ?? 0;

/** What every ledger has. */
const common: MigrationSet = { table: 'migrations', migrations };

class NewerDatabaseError extends Error {
  override name = 'NewerDatabaseError';
}

/** Whether an error says that a newer version of this program has migrated the database. */
export const isDatabaseNewer = (error: unknown): boolean => error instanceof NewerDatabaseError;

/** The names of migrations that the database does not have yet. Creates nothing. */
export async function pendingMigrations(database: Database, set: MigrationSet = common): Promise<string[]> {
  const tables = await database.tables();
  const applied = appliedIn(set.table);
  const done = tables.has(set.table)
    ? await database.db.select().from(applied).orderBy(asc(applied.number))
    : [];
  const newest = done.at(-1)?.number ?? 0;
  const known = set.migrations.at(-1)?.number ?? 0;
  if (newest > known) {
    throw new NewerDatabaseError(
      `the database has migration ${newest}, this program knows ${known}: run a newer version of it`,
    );
  }
  return set.migrations.filter(({ number }) => number > newest).map(({ name }) => name);
}

/**
 * Applies the pending migrations; a crash in between leaves whole migrations only. When several processes migrate
 * at once, one of them applies each migration, and all return when the schema is complete. Returns the names of
 * the migrations that this call applied. `onProgress` hears how many of the pending ones are applied.
 */
export async function migrate(
  database: Database,
  set: MigrationSet = common,
  onProgress: (progress: { done: number; of: number }) => void = () => {},
): Promise<string[]> {
  await createMigrationsTable(database, set.table);
  const done: string[] = [];
  const pending = await pendingMigrations(database, set);
  for (const one of set.migrations.filter(({ name }) => pending.includes(name))) {
    const { number, name } = one;
    onProgress({ done: pending.indexOf(name), of: pending.length });
    const text = await textFor(database, one);
    // The number is inserted first: a second process fails on it before anything else of the file runs.
    const mine = await once(() =>
      database.script(`insert into ${set.table} (number, name) values (${number}, '${name}');\n${text}`),
    );
    if (mine) done.push(name);
  }
  if (pending.length > 0) onProgress({ done: pending.length, of: pending.length });
  return done;
}

async function textFor(database: Database, one: Migration): Promise<string> {
  const { sql, postgres, keepsRows } = one;
  if (database.dialect === 'postgres') return postgres ?? sql;
  return keepsRows ? withoutDropsOfRows(database, sql) : sql;
}

/**
 * The script without its drops of tables that have rows, for SQLite, which has no condition for it. Its file is of one
 * process, so no row comes between this look and the drop; a table that is not there (any more) keeps its line, since
 * the process that dropped it has inserted the number too, on which this script then fails first.
 */
function withoutDropsOfRows(database: Database, script: string): Promise<string> {
  return database.snapshot(async (queries) => {
    const lines: string[] = [];
    for (const line of script.split('\n')) {
      const dropped = /^drop table (\w+);$/.exec(line)?.[1];
      if (dropped === undefined || !(await hasRows(queries, dropped))) lines.push(line);
    }
    return lines.join('\n');
  });
}

async function hasRows(queries: Queries, table: string): Promise<boolean> {
  const found = await queries
    .select({ one: statement`1` })
    .from(statement`sqlite_master`)
    .where(statement`type = 'table' and name = ${table}`);
  if (found.length === 0) return false;
  const rows = await queries
    .select({ one: statement`1` })
    .from(statement`${statement.identifier(table)}`)
    .limit(1);
  return rows.length > 0;
}

async function createMigrationsTable(database: Database, table: MigrationSet['table']): Promise<void> {
  const create = () =>
    once(() =>
      database.script(
        `create table if not exists ${table} (number integer primary key not null, name text not null)`,
      ),
    );
  // The second time the table of the other process is committed, and "if not exists" sees it.
  await tryAgain(create, { triesMax: 2, isPassing: isDuplicateTable });
}

/** False when another process has just done the same: in Postgres even "if not exists" can collide with it. */
async function once(script: () => Promise<void>): Promise<boolean> {
  try {
    await script();
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

// Migrations that are applied together, and how a database notes which of them it has.

interface Migration {
  number: number;
  name: string;
  sql: string;
  /** In its place on Postgres, where only Postgres can do it. */
  postgres?: string;
  /** The text drops tables, but only those without rows. Postgres can say so in its own text; for SQLite it is seen to here. */
  keepsRows?: boolean;
}

export interface MigrationSet {
  /** In which a database notes them. */
  table: 'migrations' | 'emulator_migrations';
  /** In order of their numbers. */
  migrations: readonly Migration[];
}

const appliedIn = (table: MigrationSet['table']) =>
  pgTable(table, {
    number: integer('number').primaryKey(),
    name: text('name').notNull(),
  });
