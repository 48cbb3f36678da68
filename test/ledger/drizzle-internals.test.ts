/** What the ledger takes of drizzle beyond its documentation: an upgrade that changes any of it fails here, by its name. */
import { readFileSync } from 'node:fs';
import { eq, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { expect, test } from 'vitest';
import { spelledQueries, statementOf } from '../../src/ledger/database/drizzle-internals.ts';
import { lanes } from '../../src/ledger/schema/transactions.ts';
import { wallets } from '../../src/ledger/schema/wallets.ts';

const VERSION = '0.45.4';
const upgrade = (what: string) =>
  `drizzle ${VERSION} ${what}; after an upgrade, mend src/ledger/database/drizzle-internals.ts and this line`;
const root = new URL('../../', import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

const db = drizzle(() => Promise.resolve({ rows: [] }));

test(`the version is the one that was looked into: ${VERSION}, in package.json and in node_modules`, () => {
  const wanted = read('package.json').devDependencies['drizzle-orm'];
  expect(wanted, upgrade('is pinned, without ^ or ~')).toBe(VERSION);
  expect(read('node_modules/drizzle-orm/package.json').version, upgrade('is installed')).toBe(VERSION);
});

test('a prepared statement tells its text and its parameters: getQuery()', () => {
  const built = db
    .update(lanes)
    .set({ epoch: sql`${sql.placeholder('epoch')}` })
    .where(eq(lanes.owner, sql.placeholder('owner')))
    .prepare('');
  const { text, fillers, cells } = statementOf(built);
  expect(text, upgrade('has getQuery().sql')).toBe(
    'update "lanes" set "epoch" = $1 where "lanes"."owner" = $2',
  );
  const filled = fillers.map((fill) => fill({ owner: 'a', epoch: 3 }));
  expect(filled, upgrade('has getQuery().params of Placeholder, and of Param around one')).toEqual([3, 'a']);
  expect(cells, upgrade('has no `fields` where nothing is returned')).toBeUndefined();
});

test('a prepared statement tells how its rows are read: fields, and the decoders of columns, expressions and aliases', () => {
  const built = db
    .select({
      owner: lanes.owner,
      half: sql<number>`1`.mapWith((value: string) => Number(value) / 2),
      twice: sql<number>`1`.mapWith((value: string) => Number(value) * 2).as('twice'),
    })
    .from(lanes)
    .prepare('');
  const cells = statementOf(built).cells ?? [];
  expect(
    cells.map(({ path }) => path),
    upgrade('has `fields` with a path each'),
  ).toEqual([['owner'], ['half'], ['twice']]);
  expect(
    cells.map(({ decoder }) => decoder.mapFromDriverValue('6')),
    upgrade('has the decoder in Column, SQL.decoder and Aliased.sql.decoder'),
  ).toEqual(['6', 3, 12]);
});

test('rows of a join have a path for each object', () => {
  const built = db
    .select({ lane: lanes, wallet: wallets })
    .from(lanes)
    .leftJoin(wallets, sql`true`)
    .prepare('');
  const paths = (statementOf(built).cells ?? []).map(({ path }) => path);
  expect(paths[0], upgrade('has paths of two parts for joined objects')).toHaveLength(2);
});

test.each(['escapeParam', 'sqlToQuery', 'buildSelectQuery', 'buildInsertQuery'] as const)(
  'the dialect writes statements by %s()',
  (method) => {
    expect(typeof PgDialect.prototype[method], upgrade(`has PgDialect.${method}()`)).toBe('function');
  },
);

test('a dialect of our own is asked for every text: parameters, locks, inserts', () => {
  const queries = spelledQueries(
    {
      parameter: '?',
      text: (inPostgres) => `/* ours */ ${inPostgres}`,
      insert: (insert) => ({ ...insert, onConflict: sql`on conflict do nothing` }),
    },
    () => Promise.resolve({ rows: [] }),
  );
  const select = queries.select({ epoch: lanes.epoch }).from(lanes).where(eq(lanes.owner, 'a')).for('update');
  expect(select.toSQL().sql, upgrade('takes a dialect as the third argument of pg-proxy')).toBe(
    '/* ours */ select "epoch" from "lanes" where "lanes"."owner" = ?',
  );
  const wallet = { userKey: 'a', address: '0x0a' as const, createdAt: 1 };
  expect(
    queries.insert(wallets).values(wallet).toSQL().sql,
    upgrade('builds inserts of their config'),
  ).toMatch(/^\/\* ours \*\/ insert into "wallets" .* on conflict do nothing$/);
});

test('what runs a statement is given text, parameters and method, and nothing more', async () => {
  const given: unknown[][] = [];
  const spelling = { parameter: '?', text: (text: string) => text, insert: <I>(insert: I) => insert };
  const queries = spelledQueries(spelling, async (...all) => {
    given.push(all);
    return { rows: [] };
  });
  await queries.select({ epoch: lanes.epoch }).from(lanes);
  expect(given).toEqual([['select "epoch" from "lanes"', [], 'all']]);
});
