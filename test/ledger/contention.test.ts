/** Commits of which one has to give way are done again, without their caller's help. */
import { expect, test } from 'vitest';
import { type Facts, readFact, writeFact } from '../../src/ledger/facts.ts';
import { onEveryDatabase, signal } from '../kits/databases/databases.ts';

onEveryDatabase(({ kind, kit }) => {
  test.skipIf(kind !== 'Postgres')(
    'two commits that wait for each other both succeed',
    async () => {
      const { database, other } = kit();
      const fact = (offsetMs: number): Facts['clock'] => ({ offsetMs, frozenAtMs: null });
      await writeFact(database.db, 'clock', fact(0));
      await writeFact(database.db, 'identityKeys', []);
      const [first, second] = [signal(), signal()];
      let tries = 0;
      await Promise.all([
        database.atomically(async (tx) => {
          tries++;
          await writeFact(tx, 'clock', fact(1));
          first.give();
          await second.given;
          await writeFact(tx, 'identityKeys', [{ kid: 'a' }]);
        }),
        other.atomically(async (tx) => {
          tries++;
          await writeFact(tx, 'identityKeys', [{ kid: 'b' }]);
          second.give();
          await first.given;
          await writeFact(tx, 'clock', fact(2));
        }),
      ]);
      expect(tries).toBe(3);
      const [clock, keys] = [
        await readFact(database.db, 'clock'),
        await readFact(database.db, 'identityKeys'),
      ];
      // Whichever gave way came last, with both of its rows.
      expect([clock?.offsetMs, keys?.[0]?.kid]).toEqual(clock?.offsetMs === 1 ? [1, 'a'] : [2, 'b']);
    },
    30_000,
  );
});
