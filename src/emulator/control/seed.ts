/** What the control API does with seed files. */

import type { ControlSeedDeps } from '../../http/control/seed.ts';
import type { Database } from '../../ledger/database/database.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import { type Fixture, FixtureError, loadFixture, parseFixture, problemText } from '../fixture/fixture.ts';
import { readSeedChanges } from '../fixture/seed-ledger.ts';

export interface SeedingDeps {
  database: Database;
  /** The files that the stack was started with; they are read again each time. */
  seedFiles: readonly string[];
  applyFixture: (fixture: Fixture) => Promise<SeedChange[]>;
}

export const createSeeding =
  (deps: SeedingDeps): ControlSeedDeps['seed'] =>
  async ({ apply, files }) => {
    try {
      const fixture = files ? parseFixture(files) : await loadFixture(deps.seedFiles);
      const changes = apply ? await deps.applyFixture(fixture) : await readSeedChanges(deps, fixture);
      return { changes };
    } catch (error) {
      if (error instanceof FixtureError) return { problems: error.problems.map(problemText) };
      if (error instanceof PreconditionError && error.code === 'E_FIXTURE')
        return { problems: [error.message] };
      throw error;
    }
  };
