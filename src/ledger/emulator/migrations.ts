/** What `serve` adds to a ledger: the chain's journal, the payment processor's records, the chat. `start` never applies it. */

import type { MigrationSet } from '../database/migrate.ts';
import emulatedParts from '../database/migrations/emulator/0001-emulated-parts.sql';

/** In order; a file that has been released is never edited, only followed by another. */
export const emulatorMigrations: MigrationSet = {
  table: 'emulator_migrations',
  migrations: [{ number: 1, name: '0001-emulated-parts', sql: emulatedParts }],
};
