/** The three spellings in which SQLite differs, query in and text out: a change of drizzle shows here first. */
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { expect, test } from 'vitest';
import { SqliteSpelling } from '../../src/ledger/database/sqlite-spelling.ts';
import { createStatementCache } from '../../src/ledger/database/statement-cache.ts';
import { facts } from '../../src/ledger/schema/facts.ts';
import { lanes } from '../../src/ledger/schema/transactions.ts';
import { wallets } from '../../src/ledger/schema/wallets.ts';

const nothing = () => Promise.resolve({ rows: [] });
const [db, postgres] = [drizzle(nothing, {}, () => new SqliteSpelling()), drizzle(nothing)];

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

test('what a row leaves out is written as null, in each row of several', () => {
  const [a, b] = [
    { userKey: 'a', address: '0x0a' as const, createdAt: 1 },
    { userKey: 'b', address: '0x0b' as const, derivationIndex: 7, createdAt: 2 },
  ];
  const query = (on: typeof db) => on.insert(wallets).values([a, b]).toSQL();
  const columns = 'insert into "wallets" ("user_key", "address", "derivation_index", "created_at")';
  expect(query(db)).toEqual({
    sql: `${columns} values (?, ?, null, ?), (?, ?, ?, ?)`,
    params: ['a', '0x0a', 1, 'b', '0x0b', 7, 2],
  });
  expect(query(postgres).sql).toBe(`${columns} values ($1, $2, default, $3), ($4, $5, $6, $7)`);
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
