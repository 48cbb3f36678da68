/**
 * Column types that both databases share and that the tables are written with. A jsonb column holds objects and
 * arrays only: a bare string would be parsed once by drizzle on SQLite, and twice, by the driver too, on Postgres.
 */
import { bigint, customType, text } from 'drizzle-orm/pg-core';

/** Native in Postgres, 0 or 1 in SQLite. */
export const bool = customType<{ data: boolean; driverData: boolean | number }>({
  dataType: () => 'boolean',
  fromDriver: (value) => value === true || value === 1,
});
/** A whole number that JavaScript can hold. */
export const number = (name: string) => bigint(name, { mode: 'number' });
/** An account or contract, `0x` and 40 hex digits. */
export const address = (name: string) => text(name).$type<`0x${string}`>();
/** Any bytes as `0x` and hex digits. */
export const bytes = (name: string) => text(name).$type<`0x${string}`>();
