/** The three spellings in which SQLite differs, query in and text out: a change of drizzle shows here first. */
import { eq, sql } from 'drizzle-orm';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { expect, test } from 'vitest';
import { spelledQueries } from '../../src/ledger/database/drizzle-internals.ts';
import { createStatementCache, sqliteSpelling } from '../../src/ledger/database/sqlite.ts';
import { facts } from '../../src/ledger/schema/facts-and-counters.ts';
import { lanes } from '../../src/ledger/schema/transactions.ts';
import { wallets } from '../../src/ledger/schema/wallets.ts';

const nothing = () => Promise.resolve({ rows: [] });
const [db, postgres] = [spelledQueries(sqliteSpelling, nothing), drizzle(nothing)];

test('parameters are question marks, in the order in which they are given', () => {
  const query = (on: typeof db) => on.update(lanes).set({ epoch: 2 }).where(eq(lanes.owner, 'a')).toSQL();
  const text = 'update "lanes" set "epoch" = ? where "lanes"."owner" = ?';
  expect(query(db)).toEqual({ sql: text, params: [2, 'a'] });
  expect(query(postgres).sql).toBe('update "lanes" set "epoch" = $1 where "lanes"."owner" = $2');
});

test('rows are not locked', () => {
  const query = (on: typeof db) => on.select({ epoch: lanes.epoch }).from(lanes).for('update').toSQL().sql;
  expect(query(db)).toBe('select "epoch" from "lanes"');
  expect(query(postgres)).toBe('select "epoch" from "lanes" for update');
});

const [alice, bob] = [
  { userKey: 'a', address: '0x0a' as const, createdAt: 1 },
  { userKey: 'b', address: '0x0b' as const, derivationIndex: 7, createdAt: 2 },
];
const insert = 'insert into "wallets" ("user_key", "address", "derivation_index", "created_at")';

test('what a row leaves out is written as null', () => {
  const query = (on: typeof db) => on.insert(wallets).values(alice).toSQL();
  expect(query(db)).toEqual({ sql: `${insert} values (?, ?, null, ?)`, params: ['a', '0x0a', 1] });
  expect(query(postgres).sql).toBe(`${insert} values ($1, $2, default, $3)`);
});

test('several rows are one parameter, so that the text does not depend on their number', () => {
  const query = (on: typeof db) => on.insert(wallets).values([alice, bob]).onConflictDoNothing().toSQL();
  const values = 'select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from jsonb_each(?) where true';
  expect(query(db)).toEqual({
    sql: `${insert} ${values} on conflict do nothing`,
    params: ['[["a","0x0a",null,1],["b","0x0b",7,2]]'],
  });
  expect(query(postgres).sql).toContain('values ($1, $2, default, $3), ($4, $5, $6, $7)');
});

test('null is not the default of its column, in several rows as in one', () => {
  const table = pgTable('t', { id: integer('id'), kind: text('kind').default('usual') });
  const params = (...rows: { id: number; kind?: string | null }[]) =>
    db.insert(table).values(rows).toSQL().params;
  expect(params({ id: 1, kind: null })).toEqual([1, null]);
  expect(params({ id: 1, kind: null }, { id: 2 })).toEqual(['[[1,null],[2,"usual"]]']);
});

test.each([
  ['an expression', { ...bob, createdAt: sql<number>`now_ms()` }],
  ['a zero character', { ...bob, userKey: '\0' }],
  ['half a surrogate pair', { ...bob, userKey: '\ud83d' }],
  ['a large text', { ...bob, userKey: 'x'.repeat(500_001) }],
])('rows of which one has %s are written out', (_, row) => {
  const written = db.insert(wallets).values([alice, row]).toSQL();
  expect(written.sql).toMatch(/values \(\?, \?, null, \?\), \(\?, \?, \?, (\?|now_ms\(\))\)$/);
});

test('objects and arrays are JSON text', () => {
  const { params } = db
    .insert(facts)
    .values({ name: 'clock', value: { a: [1] } })
    .toSQL();
  expect(params).toEqual(['clock', '{"a":[1]}']);
});

test('of the compiled statements, the one that was not used for longest is dropped', () => {
  const compiled: string[] = [];
  const compile = createStatementCache(2, (text) => ({ text, count: compiled.push(text) }));
  const first = compile('a');
  compile('b');
  expect(compile('a')).toBe(first);
  compile('c');
  expect(compile('a')).toBe(first);
  compile('b');
  expect(compiled).toEqual(['a', 'b', 'c', 'b']);
});
