import SQLite from 'better-sqlite3';
import { is, SQL } from 'drizzle-orm';
import { getTableConfig, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { emulatorMigrations } from '../../src/ledger/emulator/migrations.ts';
import { type Kind, onEveryDatabase } from '../kits/databases/databases.ts';
import { emulatorTables, everyTable } from '../kits/databases/every-table.ts';

/** A table as the program sees it, and as a database describes it; both are compared as a whole. */
interface Shape {
  /** `<name> <type> [not null]`, in order. */
  columns: string[];
  primaryKey: string[];
  /** `[unique] <name> (<columns>) [where …]`, by name. */
  indexes: string[];
  /** `<column> → <table>.<column>`. */
  references: string[];
}

const columnText = (of: { name: string; type: string; notNull: boolean }) =>
  `${of.name} ${of.type}${of.notNull ? ' not null' : ''}`;
const indexText = (of: { name: string; unique: boolean; columns: string[]; where: string | undefined }) =>
  `${of.unique ? 'unique ' : ''}${of.name} (${bare(of.columns.join(', '))})${of.where ? ` where ${bare(of.where)}` : ''}`;
/** Without what each database adds in its own way. */
const bare = (condition: string) =>
  condition
    .toLowerCase()
    .replace(/::\w+|[()"]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

function declaredShape(table: PgTable): Shape {
  const { columns, primaryKeys, indexes, foreignKeys } = getTableConfig(table);
  const toText = (condition: SQL) => new PgDialect().sqlToQuery(condition).sql;
  const nameOf = (column: unknown) => (column as { name: string }).name;
  const names = (of: readonly unknown[]) => of.map(nameOf);
  const declaredKey = primaryKeys[0]?.columns ?? columns.filter((column) => column.primary);
  return {
    columns: columns.map((column) =>
      columnText({ name: column.name, type: column.getSQLType(), notNull: column.notNull }),
    ),
    primaryKey: names(declaredKey),
    indexes: indexes
      .map(({ config }) =>
        indexText({
          name: config.name ?? '',
          unique: config.unique,
          columns: config.columns.map((column) => (is(column, SQL) ? toText(column) : nameOf(column))),
          where: config.where && toText(config.where),
        }),
      )
      .sort(),
    references: foreignKeys.map((key) => {
      const { columns: from, foreignColumns: to, foreignTable } = key.reference();
      return `${names(from)} → ${getTableConfig(foreignTable).name}.${names(to)}`;
    }),
  };
}

function sqliteShapes(path: string): Map<string, Shape> {
  const sqlite = new SQLite(path, { readonly: true });
  const all = <T>(text: string, ...values: unknown[]) => sqlite.prepare<unknown[], T>(text).all(...values);
  const tables = all<{ name: string }>(
    `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  );
  const shapes = tables.map(({ name }): [string, Shape] => {
    const columns = all<{ name: string; type: string; notnull: number; pk: number }>(
      'select * from pragma_table_info(?) order by cid',
      name,
    );
    const indexes = all<{ name: string; unique: number; origin: string }>(
      'select * from pragma_index_list(?)',
      name,
    );
    const references = all<{ table: string; from: string; to: string }>(
      'select * from pragma_foreign_key_list(?)',
      name,
    );
    const shape: Shape = {
      columns: columns.map((column) =>
        columnText({ ...column, type: column.type.toLowerCase(), notNull: column.notnull === 1 }),
      ),
      primaryKey: columns
        .filter(({ pk }) => pk > 0)
        .sort((a, b) => a.pk - b.pk)
        .map((column) => column.name),
      indexes: indexes
        .filter(({ origin }) => origin === 'c')
        .map((index) => {
          const [made] = all<{ sql: string }>('select sql from sqlite_master where name = ?', index.name);
          return indexText({
            name: index.name,
            unique: index.unique === 1,
            // As it was written: an index of an expression has no column.
            columns: [/\((.*?)\)\s*(?:\bwhere\b|$)/is.exec(made?.sql ?? '')?.[1] ?? ''],
            where: /\bwhere\b(.*)$/is.exec(made?.sql ?? '')?.[1],
          });
        })
        .sort(),
      references: references.map(({ table, from, to }) => `${from} → ${table}.${to}`),
    };
    return [name, shape];
  });
  sqlite.close();
  return new Map(shapes);
}

async function postgresShapes(url: string): Promise<Map<string, Shape>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const all = async <T>(text: string, ...values: unknown[]) => (await client.query(text, values)).rows as T[];
  const shapes = new Map<string, Shape>();
  const tables = await all<{ name: string }>(
    // A table's parts are not tables of their own.
    `select relname as name from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace`,
  );
  for (const { name } of tables) {
    const columns = await all<{ name: string; type: string; notNull: boolean }>(
      `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as "notNull"
       from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      name,
    );
    const indexes = await all<{
      name: string;
      unique: boolean;
      primary: boolean;
      columns: string[];
      where?: string;
    }>(
      `select c.relname as name, i.indisunique as unique, i.indisprimary as primary,
         array(select pg_get_indexdef(i.indexrelid, place, true)
           from generate_series(1, i.indnkeyatts) place order by place) as columns,
         pg_get_expr(i.indpred, i.indrelid) as where
       from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = $1::regclass`,
      name,
    );
    const references = await all<{ text: string }>(
      `select a.attname || ' → ' || c.confrelid::regclass || '.' || f.attname as text from pg_constraint c
       join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
       join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1]
       where c.contype = 'f' and c.conrelid = $1::regclass`,
      name,
    );
    shapes.set(name, {
      columns: columns.map(columnText),
      primaryKey: indexes.find(({ primary }) => primary)?.columns.map(bare) ?? [],
      indexes: indexes
        .filter(({ primary }) => !primary)
        .map((index) => indexText({ ...index, where: index.where }))
        .sort(),
      references: references.map(({ text }) => text),
    });
  }
  await client.end();
  return shapes;
}

const kinds: Kind[] = ['SQLite file', 'Postgres'];

onEveryDatabase(
  ({ kind, kit }) => {
    const shapes = () =>
      kind === 'Postgres' ? postgresShapes(kit().where) : Promise.resolve(sqliteShapes(kit().where));

    beforeAll(() => migrate(kit().database, emulatorMigrations));

    test.each(Object.entries({ ...everyTable, ...emulatorTables }))(
      '%s is in the database as it is in the schema',
      async (_, table) => {
        const { name } = getTableConfig(table);
        expect((await shapes()).get(name)).toEqual(declaredShape(table));
      },
    );

    test('there is no other table', async () => {
      const all = Object.values({ ...everyTable, ...emulatorTables });
      const declared = all.map((table) => getTableConfig(table).name);
      expect([...(await shapes()).keys()].sort()).toEqual(
        [...declared, 'migrations', 'emulator_migrations'].sort(),
      );
    });
  },
  { kinds },
);
