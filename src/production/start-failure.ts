/** What a start that was broken off says: which part was asked when the database or the nodes went away. */
import { isRpcError } from '../chain/rpc/rpc.ts';
import { isDatabaseBusy, isDatabaseUnavailable } from '../ledger/database/database.ts';
import { PreconditionError } from '../lib/failures/precondition.ts';
import { databaseProblem } from './database-problem.ts';
import { type Problem, problemOf } from './start-errors.ts';

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
