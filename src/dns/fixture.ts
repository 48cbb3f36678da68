/** DNS out of a table, for the emulator. */
import type { TxtResolver } from './txt.ts';

/** `table` is read at each question, so it may change while the emulator runs. */
export const fixtureTxtResolver = (table: (name: string) => Promise<string[]>): TxtResolver => ({
  txtRecords: (name) => table(name.toLowerCase()),
});
