/** What keeps a start from its database, in words: the true cause, whether the server or a pooler in front of it said it. */
import {
  type Database,
  isDatabaseBusy,
  isDatabaseFull,
  isDatabaseRefusal,
  isDatabaseUnavailable,
  type Pooler,
} from '../ledger/database/database.ts';
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
