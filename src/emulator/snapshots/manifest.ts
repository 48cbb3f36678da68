/** What a snapshot says of itself, and what may be in one. */
import { z } from 'zod';
import { LEDGER, SITE_STORE } from '../state/data-files.ts';

/** Raised with a change that earlier programs could not read. */
export const FORMAT = 1;

export const MANIFEST = 'manifest.json';
const CHECKPOINT_PART = /^chain\/checkpoint-\d{1,15}-0x[0-9a-f]{64}\.bin$/;

/** Nothing else is ever written from a snapshot, wherever its names may point. */
export const isPart = (name: string): boolean =>
  name === LEDGER || name === SITE_STORE || CHECKPOINT_PART.test(name);

/** A letter or digit, then up to 63 letters, digits, dots, dashes or underscores; `now` is the running stack. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
export const isSnapshotName = (name: string): boolean => NAME.test(name) && name !== 'now';

const count = () => z.int().min(0);
export const manifestShape = z.object({
  format: z.literal(FORMAT),
  program: z.string().max(100),
  /** The newest migration of the ledger. */
  migration: count(),
  name: z.string().max(100),
  note: z.string().max(1_000).nullable(),
  takenAt: z.iso.datetime(),
  chain: z.object({
    id: count(),
    block: count(),
    hash: z.string().regex(/^0x[0-9a-f]{64}$/),
    timestampSeconds: count(),
  }),
  clock: z.object({
    nowMs: z
      .number()
      .min(0)
      .max(Date.UTC(9999, 0, 1)),
    frozen: z.boolean(),
  }),
  /** Rows of each table; those of the site's store begin with `site.`. */
  rows: z.record(z.string(), count()),
  parts: z.array(
    z.object({ name: z.string().max(200), bytes: count(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});
export type Manifest = z.infer<typeof manifestShape>;

/** A snapshot in memory; the parts by their names. */
export interface Snapshot {
  manifest: Manifest;
  parts: Map<string, Buffer>;
}
