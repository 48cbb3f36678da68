/** What a start that was broken off says: which part was asked when the database or the nodes went away, and what keeps it from its database. */
import { isRpcError } from '../chain/rpc/rpc.ts';
import {
  type Database,
  isDatabaseBusy,
  isDatabaseFull,
  isDatabaseRefusal,
  isDatabaseUnavailable,
  type Pooler,
} from '../ledger/database/database.ts';
import { PreconditionError } from '../lib/failures/precondition.ts';
import { causeOf, rootMessage } from '../lib/failures/root-cause.ts';
import { type Problem, problemOf } from './start-errors.ts';

/** Translates an error of the database; `asked`: what it was asked for. */
export function databaseProblem(error: unknown, asked?: string): Problem {
  // A refusal is not temporary.
  if ((isDatabaseUnavailable(error) && !isDatabaseRefusal(error)) || isDatabaseBusy(error)) {
    const whileAsked = asked === undefined ? '' : ` while it was asked for ${asked}`;
    return {
      code: 'E_START_DATABASE',
      message: `the database does not answer${whileAsked}: ${causeOf(error)}`,
      fix: isDatabaseFull(error)
        ? 'wait, or make room: max_connections of Postgres, max_client_conn and default_pool_size of PgBouncer'
        : 'start it, and check its address',
    };
  }
  const said = rootMessage(error);
  if (/newer version/.test(said))
    return {
      code: 'E_MIGRATIONS_PENDING',
      message: said,
      fix: 'deploy the version of rewards that migrated it',
    };
  return { code: 'E_DATABASE_REFUSED', message: `the database refuses: ${said}`, fix: fixOf(said) };
}

function fixOf(said: string): string {
  const [, parameter] = /unsupported startup parameter(?: in options)?: (\w+)/i.exec(said) ?? [];
  if (parameter) return `take ${parameter} out of the address of the database`;
  if (/statement pooling mode/.test(said))
    return 'set pool_mode = transaction in pgbouncer.ini, and REWARDS_DATABASE_POOLER=transaction';
  return 'check user, password and database name';
}

/** Checks, through the pool that the service will use, that what protects its connections is in force. */
export async function checkDatabaseSessions(database: Database, pooler: Pooler): Promise<Problem[]> {
  const problem = await database.sessionProblem?.();
  if (!problem) return [];
  if (problem.kind === 'shared') {
    const message = `a pooler gives each transaction another connection, and REWARDS_DATABASE_POOLER is ${pooler}`;
    return [problemOf('E_DATABASE_POOLER', { message })];
  }
  const message = `the database's connections are without ${problem.missing.join(', ')}`;
  const settings = problem.missing
    .map((one) => `set ${one.replace(/=(.*)/, " = '$1'")}`)
    .join('; alter role … ');
  const fix = `let the pooler pass SET on; or give them to the role: alter role … ${settings}`;
  return [problemOf('E_DATABASE_UNPROTECTED', { message, fix })];
}

/** The problem of a part that is outside this program; undefined for a defect, which stays what it is. */
export function outsideProblem(error: unknown, asked: string): Problem | undefined {
  if (isRpcError(error)) return problemOf('E_START_RPC', { message: `${error.message}, asked for ${asked}` });
  if (isDatabaseUnavailable(error) || isDatabaseBusy(error)) return databaseProblem(error, asked);
  return undefined;
}

/** Does a part of a start; what fails outside of the program names that part, and is tried again by the supervisor. */
export async function asked<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const problem = outsideProblem(error, what);
    throw problem ? new PreconditionError(problem) : error;
  }
}
