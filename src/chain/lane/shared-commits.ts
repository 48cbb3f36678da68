/** One commit for what several lanes write at the same time: a commit costs a wait for the disk, and there is one lane for each payer. */
import type { Database, Queries } from '../../ledger/database/database.ts';
import { createBatcher } from '../../lib/batch/batcher.ts';
import type { LaneDeps } from './types.ts';

/** Runs a single statement: in a commit that lanes share, else as a commit by itself. */
export const runSingle = <T>(
  { database, sharesCommits }: Pick<LaneDeps, 'database' | 'sharesCommits'>,
  statement: (queries: Queries) => Promise<T>,
): Promise<T> => (sharesCommits ? database.atomically(statement) : statement(database.db));

type Work = (tx: Queries) => Promise<unknown>;
type Outcome = { value: unknown } | { error: unknown };

/** As many lanes as write together: each needs a handful of statements. */
const TOGETHER_MAX = 64;

/**
 * The same database, whose commits are those of all that are asked for while one is under way. Where the work of one lane
 * fails, nothing of the others is lost: they are done again by themselves. A commit that failed is every lane's failure,
 * since what became of it is not known.
 */
export function sharedCommits(database: Database): Database {
  const alone = (work: Work): Promise<Outcome> =>
    database.atomically(work).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
  const { submit } = createBatcher<Work, Outcome>({
    maxItems: TOGETHER_MAX,
    async run(works) {
      let done = false;
      try {
        return await database.atomically(async (tx) => {
          done = false;
          const outcomes: Outcome[] = [];
          for (const work of works) outcomes.push({ value: await work(tx) });
          done = true;
          return outcomes;
        });
      } catch (error) {
        if (done || works.length === 1) return works.map(() => ({ error }));
      }
      const outcomes: Outcome[] = [];
      for (const work of works) outcomes.push(await alone(work));
      return outcomes;
    },
  });
  return {
    ...database,
    async atomically<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
      const outcome = await submit(work);
      if ('error' in outcome) throw outcome.error;
      return outcome.value as T;
    },
  };
}
