/**
 * Lets consumers digest the next facts, effect and position in one commit. A brand whose facts one of them cannot digest is
 * set aside with what comes after, and tried again; all others go on.
 */

import { lockPositions, movePositions } from '../../ledger/consumers/positions.ts';
import { brandsAside, type SetAside, setAside } from '../../ledger/consumers/set-aside.ts';
import {
  type Database,
  isDatabaseAway,
  isDatabaseBusy,
  isDatabaseFull,
  type Queries,
} from '../../ledger/database/database.ts';
import type { Crash } from '../../lib/crash-points.ts';
import { causeOf } from '../../lib/failures/root-cause.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Consumer, ConsumerTools } from './consumer.ts';
import { type Piece, readPiece } from './read-facts.ts';

export interface DigestDeps extends ConsumerTools {
  database: Database;
  crash: Crash;
  /** When what was set aside is tried again, by the clock of this machine. */
  realNow: () => number;
  /** Messages to brands are in the ledger and due. */
  onQueued: () => void;
  onSetAside: (aside: SetAside) => void;
}

/** Whether a failure says something of the database, not of the facts: the same facts pass later. */
export const isPassing = (error: unknown): boolean =>
  isDatabaseBusy(error) || isDatabaseAway(error) || isDatabaseFull(error);

/** The first pause before facts that were set aside are tried again. */
export const FIRST_PAUSE_MS = 60_000;

interface Place {
  /** Where the consumers are. */
  at: number;
  /** The last position of the feed when they were behind it. */
  head: number;
}

/** The next piece of the feed, for consumers that are at one place. */
export async function digestNext(
  deps: DigestDeps,
  consumers: readonly Consumer[],
  place: Place,
): Promise<void> {
  try {
    await commitPiece(deps, { consumers, place, failing: new Map() });
  } catch (error) {
    if (isPassing(error)) throw error;
    const [only] = consumers;
    if (only && consumers.length === 1) return digestWithout(deps, only, place, error);
    // Whoever can digest them goes on.
    for (const one of consumers) await digestNext(deps, [one], place);
  }
}

async function commitPiece(
  deps: DigestDeps,
  of: { consumers: readonly Consumer[]; place: Place; failing: ReadonlyMap<BrandId, string> },
): Promise<void> {
  const { consumers, place, failing } = of;
  const { at, head } = place;
  const names = consumers.map(({ name }) => name);
  const done = await deps.database.atomically(async (tx) => {
    // Another process has digested these.
    if (!(await lockPositions(tx, { consumers: names, at }))) return undefined;
    const piece = await readPiece(tx, { after: at });
    if (piece === 'moved') return undefined;
    if (!piece) {
      await movePositions(tx, { consumers: names, to: head });
      return undefined;
    }
    const waiting = await brandsAside(tx, names);
    const aside: SetAside[] = [];
    let due = 0;
    for (const consumer of consumers) {
      const out = new Set<BrandId>([...failing.keys(), ...(waiting.get(consumer.name) ?? [])]);
      due += await consumer.digest(tx, without(piece, out), deps);
      aside.push(...asideOf(piece, { consumer, at, out, failing, nowMs: deps.realNow() }));
    }
    await setAside(tx, aside);
    await movePositions(tx, { consumers: names, to: piece.upTo });
    deps.crash('consumers.before-commit');
    return { due, aside };
  });
  deps.crash('consumers.committed');
  if (done && done.due > 0) deps.onQueued();
  for (const row of done?.aside ?? []) deps.onSetAside(row);
}

const without = (piece: Piece, out: ReadonlySet<BrandId>): Piece =>
  out.size === 0 ? piece : { ...piece, facts: piece.facts.filter(({ brandId }) => !out.has(brandId)) };

function asideOf(
  piece: Piece,
  of: {
    consumer: Consumer;
    at: number;
    out: ReadonlySet<BrandId>;
    failing: ReadonlyMap<BrandId, string>;
    nowMs: number;
  },
): SetAside[] {
  const brands = new Set(piece.facts.map(({ brandId }) => brandId));
  return [...of.out]
    .filter((brandId) => brands.has(brandId))
    .map((brandId) => ({
      consumer: of.consumer.name,
      brandId,
      afterPosition: of.at,
      upToPosition: piece.upTo,
      tries: of.failing.has(brandId) ? 1 : 0,
      nextTryAt: of.nowMs + FIRST_PAUSE_MS,
      error: of.failing.get(brandId) ?? 'waits behind earlier facts of the brand',
    }));
}

/** Undoes what a trial has written. */
class Tried extends Error {
  override name = 'Tried';
}

/** Finds the brands whose facts fail, and goes on without them. */
async function digestWithout(
  deps: DigestDeps,
  consumer: Consumer,
  place: Place,
  failure: unknown,
): Promise<void> {
  const failing = new Map<BrandId, string>();
  for (const brandId of await brandsNext(deps, place)) {
    const error = await trial(deps, (tx) => digestOne(deps, tx, { consumer, brandId, place }));
    if (error !== undefined) failing.set(brandId, causeOf(error));
  }
  // Each passes alone: nothing says whose they are.
  if (failing.size === 0) throw failure;
  await commitPiece(deps, { consumers: [consumer], place, failing });
}

const brandsNext = ({ database }: DigestDeps, { at }: Place): Promise<Set<BrandId>> =>
  database.atomically(async (tx) => {
    const piece = await readPiece(tx, { after: at });
    return new Set(piece && piece !== 'moved' ? piece.facts.map(({ brandId }) => brandId) : []);
  });

async function digestOne(
  deps: DigestDeps,
  tx: Queries,
  { consumer, brandId, place }: { consumer: Consumer; brandId: BrandId; place: Place },
): Promise<void> {
  const piece = await readPiece(tx, { after: place.at });
  if (!piece || piece === 'moved') return;
  const own = piece.facts.filter((fact) => fact.brandId === brandId);
  await consumer.digest(tx, { ...piece, facts: own }, deps);
}

/** Does work in a commit that is not kept; the error that it ends with, if it does. */
async function trial({ database }: DigestDeps, work: (tx: Queries) => Promise<void>): Promise<unknown> {
  try {
    await database.atomically(async (tx) => {
      await work(tx);
      throw new Tried();
    });
  } catch (error) {
    if (error instanceof Tried) return undefined;
    if (isPassing(error)) throw error;
    return error;
  }
  return undefined;
}
