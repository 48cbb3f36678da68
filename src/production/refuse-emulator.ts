/** Keeps commands of production off an emulator's ledger. */
import { PreconditionError } from '../compose/precondition.ts';
import type { Database } from '../ledger/database/database.ts';
import { readLedgerOwner } from '../ledger/ledger-owner.ts';
import { problemOf } from './start-errors.ts';

/** Throws E_PROD_EMULATOR_LEDGER before anything is written. */
export async function refuseEmulatorLedger(database: Database): Promise<void> {
  const { owner } = await readLedgerOwner(database);
  if (owner === 'emulator') throw new PreconditionError(problemOf('E_PROD_EMULATOR_LEDGER'));
}
