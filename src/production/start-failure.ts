/** What a start that was broken off says: which part was asked when the database or the nodes went away. */
import { isRpcError } from '../chain/rpc/rpc.ts';
import { PreconditionError } from '../compose/precondition.ts';
import { isDatabaseBusy, isDatabaseRefusal, isDatabaseUnavailable } from '../ledger/database/database.ts';
import { causeOf, rootMessage } from '../lib/failures/root-cause.ts';
import { type Problem, problemOf } from './start-errors.ts';

/** Translates an error of the database; `asked`: what it was asked for. */
export function databaseProblem(error: unknown, asked?: string): Problem {
  const whileAsked = asked === undefined ? '' : ` while it was asked for ${asked} (${causeOf(error)})`;
  // A refusal is not temporary.
  if ((isDatabaseUnavailable(error) && !isDatabaseRefusal(error)) || isDatabaseBusy(error))
    return {
      code: 'E_START_DATABASE',
      message: `the database does not answer${whileAsked}`,
      fix: 'start it, and check its address',
    };
  const said = rootMessage(error);
  if (/newer version/.test(said))
    return {
      code: 'E_MIGRATIONS_PENDING',
      message: said,
      fix: 'deploy the version of rewards that migrated it',
    };
  return {
    code: 'E_DATABASE_REFUSED',
    message: `the database refuses: ${said}`,
    fix: 'check user, password and database name',
  };
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
