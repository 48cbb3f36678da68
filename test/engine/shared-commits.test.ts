/** Commits that lanes share. */
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSingle, sharedCommits } from '../../src/chain/lane/shared-commits.ts';
import { takeNumbers } from '../../src/ledger/counters.ts';
import type { Database, Queries } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { counters } from '../../src/ledger/schema/facts-and-counters.ts';

let database: Database;
beforeAll(async () => {
  database = openSqlite(':memory:');
  await migrate(database);
});
afterAll(() => database.close());

const take = (tx: Queries) => takeNumbers(tx, 'relay_position', 1);
const taken = async () => {
  const [row] = await database.db.select().from(counters).where(eq(counters.name, 'relay_position'));
  return row?.next ?? 0;
};
/** Counts commits; `after` runs when the work of one is done, before it is on disk. */
function counting(after: () => void = () => {}) {
  let commits = 0;
  const shared = sharedCommits({
    ...database,
    async atomically(work) {
      commits += 1;
      return database.atomically(async (tx) => {
        const value = await work(tx);
        after();
        return value;
      });
    },
  });
  return { shared, commits: () => commits };
}

test('what is asked for at the same time is one commit, each with its own answer', async () => {
  const before = await taken();
  const { shared, commits } = counting();
  const answers = await Promise.all([
    shared.atomically(take),
    shared.atomically(take),
    shared.atomically(take),
  ]);
  expect([new Set(answers).size, commits(), (await taken()) - before]).toEqual([3, 1, 3]);
});

test('a single statement goes into the commit that lanes share; without one it is a commit by itself', async () => {
  const { shared, commits } = counting();
  await Promise.all([
    shared.atomically(take),
    runSingle({ database: shared, sharesCommits: true }, take),
    runSingle({ database: shared }, take),
  ]);
  expect(commits()).toBe(1);
});

test('where one fails, the others are done, and nothing of it stays', async () => {
  const before = await taken();
  const { shared, commits } = counting();
  const failing = shared.atomically(async (tx) => {
    await take(tx);
    throw new Error('mine');
  });
  const all = await Promise.allSettled([shared.atomically(take), failing, shared.atomically(take)]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await expect(failing).rejects.toThrow('mine');
  expect([(await taken()) - before, commits()]).toEqual([2, 4]);
});

test('a commit that fails is the failure of all, and none is done again', async () => {
  const before = await taken();
  const { shared, commits } = counting(() => {
    throw new Error('the disk');
  });
  const all = await Promise.allSettled([shared.atomically(take), shared.atomically(take)]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([(await taken()) - before, commits()]).toEqual([0, 1]);
});
