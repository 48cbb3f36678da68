/** Opens a production ledger without a service, and says what stands in the way of work on it. */
import { isRpcError } from '../../chain/rpc/rpc.ts';
import { whereIs } from '../../compose/start-problem.ts';
import {
  type Database,
  isDatabaseAway,
  isDatabaseRefusal,
  isDatabaseUnavailable,
} from '../../ledger/database/database.ts';
import { isDatabaseNewer } from '../../ledger/database/migrate.ts';
import { readLedgerOwner } from '../../ledger/facts.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { causeOf, rootMessage } from '../../lib/failures/root-cause.ts';
import { silentLog } from '../../lib/log.ts';
import { openLedgerAt } from '../pick-adapters.ts';
import { readSecret, type Secret, settingsProblem } from '../secrets.ts';
import { databaseFault, sqliteProblem, startSettings } from '../settings.ts';
import { problemOf } from '../start-errors.ts';

export interface LedgerPlace {
  cwd: string;
  secret: Secret;
  allowSqlite: boolean;
}

export interface OpenLedger {
  database: Database;
  /** The database's address without its secrets. */
  where: string;
  /** Does `work`; what the database or a node has against it is thrown as a PreconditionError. */
  asked<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Throws a PreconditionError when the secret holds no address, or one that production refuses. */
export async function openLedger(place: LedgerPlace): Promise<OpenLedger> {
  const databaseUrl = await addressIn(place);
  const isSqlite = databaseUrl.startsWith('sqlite:');
  const where = isSqlite ? databaseUrl : `postgres://${whereIs(databaseUrl)}`;
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asProblem(error, whereIs(databaseUrl));
    }
  };
  const { database, release } = await asked(() => openLedgerAt(databaseUrl, silentLog));
  return {
    database,
    where,
    asked,
    async close() {
      await database.close();
      await release();
    },
  };
}

async function addressIn(place: LedgerPlace): Promise<string> {
  const databaseUrl = await readSecret(startSettings.databaseUrl, place);
  if (databaseUrl === undefined) throw missing('REWARDS_DATABASE_URL');
  const fault = databaseFault(databaseUrl, 'REWARDS_DATABASE_URL');
  if (fault) throw settingsProblem([fault]);
  const unsafe = sqliteProblem(databaseUrl, place);
  if (unsafe) throw new PreconditionError(unsafe);
  return databaseUrl;
}

export const missing = (name: string) =>
  new PreconditionError({
    code: 'E_SETTINGS',
    message: `${name} is not set`,
    fix: `set it, or ${name}_FILE, or the flag for that file`,
  });

/** Throws E_PROD_EMULATOR_LEDGER before anything is written. */
export async function refuseEmulatorLedger(database: Database): Promise<void> {
  const { owner } = await readLedgerOwner(database);
  if (owner === 'emulator') throw new PreconditionError(problemOf('E_PROD_EMULATOR_LEDGER'));
}

const TAKES_ADDRESS = '--database-url, REWARDS_DATABASE_URL or REWARDS_DATABASE_URL_FILE';

/** A defect of this program is left as it is. */
function asProblem(error: unknown, where: string): unknown {
  if (error instanceof PreconditionError) return error;
  if (isRpcError(error))
    return new PreconditionError({
      code: 'E_RPC_UNREACHABLE',
      message: `The chain node does not answer as it should: ${causeOf(error)}.`,
      fix: 'Check the node and its address: --rpc-url, REWARDS_RPC_URL or REWARDS_RPC_URL_FILE.',
    });
  if (isDatabaseNewer(error))
    return new PreconditionError({
      code: 'E_MIGRATIONS_PENDING',
      message: rootMessage(error),
      fix: 'Use the version of rewards that migrated it.',
    });
  if (isDatabaseUnavailable(error) && !isDatabaseRefusal(error))
    return new PreconditionError({
      code: 'E_DATABASE_UNREACHABLE',
      message: `The database at ${where} cannot be ${isDatabaseAway(error) ? 'reached' : 'used'}: ${causeOf(error)}.`,
      fix: `Start it, or correct its address: ${TAKES_ADDRESS}.`,
    });
  if (!hasCode(error)) return error;
  return new PreconditionError({
    code: 'E_DATABASE_REFUSED',
    message: `The database at ${where} refuses: ${rootMessage(error)}.`,
    fix: 'Check user, password and database name in its address.',
  });
}

/** Whether Postgres, SQLite or the operating system said so, rather than this program. */
function hasCode(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && /^(?!ERR_)[0-9A-Z_]+$/.test(String(cause.code))) return true;
  return isDatabaseRefusal(error);
}
