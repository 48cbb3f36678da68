/** Seed files over the control API: what they would change, and changing it. */
import type { Handler } from 'hono';
import { seedWish } from '../../contract/control/control.ts';
import type { SeedChange } from '../../rules/brands/seed-changes.ts';
import { readJsonBody } from '../frame/body/json-body.ts';
import { refuse } from './refuse.ts';

/** A file's text, under the name that problems give it. */
export interface SeedFile {
  name: string;
  text: string;
}

export interface ControlSeedDeps {
  /** Compares the files with the ledger, and applies them. Without files: those that the stack was started with. */
  seed: (wish: {
    apply: boolean;
    files?: SeedFile[] | undefined;
  }) => Promise<{ changes: SeedChange[] } | { problems: string[] }>;
}

/** Several files of the size that a fixture may have. */
const FILES_LIMIT_BYTES = 8 * 1024 * 1024;

export const controlSeed = ({ seed }: ControlSeedDeps): Record<string, Handler> => ({
  async seed(context) {
    const body = await readJsonBody(context.req.raw, FILES_LIMIT_BYTES);
    const wish = seedWish.safeParse('value' in body ? body.value : undefined);
    if (!wish.success) return refuse(context, { code: 'invalid_body' });
    const result = await seed(wish.data);
    if ('problems' in result) return refuse(context, { code: 'invalid_fixture', problems: result.problems });
    return context.json({ applied: wish.data.apply, changes: result.changes });
  },
});
