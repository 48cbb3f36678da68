/** Seed files over the control API: what they would change, and changing it. */
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import { seed } from '../../contract/control/seed.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlSeedDeps {
  /** Compares the files with the ledger, and applies them. Without files: those that the stack was started with. */
  seed: (
    request: InputOf<typeof seed>['body'],
  ) => Promise<{ changes: SeedChange[] } | { problems: string[] }>;
}

export const controlSeed = (deps: ControlSeedDeps): ControlRoute[] => [
  controlHandler(seed, async ({ body }) => {
    const result = await deps.seed(body);
    if ('problems' in result) return { refusal: { code: 'invalid_fixture', ...result } };
    return { applied: body.apply, changes: result.changes };
  }),
];
