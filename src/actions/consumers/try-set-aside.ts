/** Tries facts again that were set aside: in their order for each brand, ever more rarely while they fail. */
import {
  asideCounts,
  dueAside,
  forgetAside,
  postponeAside,
  type SetAside,
} from '../../ledger/consumers/set-aside.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { causeOf } from '../../lib/failures/root-cause.ts';
import type { Consumer } from './consumer.ts';
import { type DigestDeps, FIRST_PAUSE_MS, isPassing } from './digest.ts';
import { readPiece } from './read-facts.ts';

const PAUSE_MAX_MS = 60 * 60_000;

/** Tries what is due until one fails or nothing is left. */
export async function trySetAside(deps: DigestDeps, consumers: readonly Consumer[]): Promise<void> {
  for (;;) {
    const tried = await tryFirst(deps, consumers);
    if (!tried) return;
  }
}

/** False when nothing is due. */
async function tryFirst(deps: DigestDeps, consumers: readonly Consumer[]): Promise<boolean> {
  let row: SetAside | undefined;
  try {
    const due = await deps.database.atomically(async (tx) => {
      row = await dueAside(tx, { nowMs: deps.realNow() });
      return row && (await digestAside(deps, tx, { row, consumers }));
    });
    if (due !== undefined && due > 0) deps.onQueued();
  } catch (error) {
    const failed = row;
    if (isPassing(error) || !failed) throw error;
    const pauseMs = Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** failed.tries);
    const next = { nextTryAt: deps.realNow() + pauseMs, error: causeOf(error) };
    await deps.database.atomically((tx) => postponeAside(tx, failed, next));
    deps.onSetAside({ ...failed, ...next });
  }
  return row !== undefined;
}

async function digestAside(
  deps: DigestDeps,
  tx: Queries,
  { row, consumers }: { row: SetAside; consumers: readonly Consumer[] },
): Promise<number> {
  const consumer = consumers.find(({ name }) => name === row.consumer);
  let due = 0;
  let after = row.afterPosition;
  // What was one piece may be several since, where some of it was taken back.
  while (consumer && after < row.upToPosition) {
    const piece = await readPiece(tx, { after, upTo: row.upToPosition });
    if (piece === 'moved') throw new Error('the chain was reorganised meanwhile');
    if (!piece) break;
    const facts = piece.facts.filter(({ brandId }) => brandId === row.brandId);
    due += await consumer.digest(tx, { ...piece, facts }, deps);
    after = piece.upTo;
  }
  await forgetAside(tx, row);
  return due;
}

/** What waits now, one text for each consumer and brand. */
export async function asideNow({ database }: Pick<DigestDeps, 'database'>): Promise<Set<string>> {
  const rows = await asideCounts(database.db);
  return new Set(rows.map(({ consumer, brandId }) => `${consumer} ${brandId}`));
}
