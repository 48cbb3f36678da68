/** What can be done with the snapshots of a running stack. */
import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AdjustableClock, Clock, ClockStart } from '../../lib/clock.ts';
import { stopwatch } from '../../lib/timers.ts';
import { SNAPSHOTS } from '../state/data-files.ts';
import { diffImages, type SnapshotDiff } from './diff-images.ts';
import type { Manifest, Snapshot } from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';
import { writeSnapshotFile } from './snapshot-file.ts';
import { type ListedSnapshot, readChecked, snapshotFolder } from './snapshot-folder.ts';
import { type Running, type SavedNode, takeOfFiles, takeSnapshot } from './take-snapshot.ts';
import type { UndoPoints } from './undo-points.ts';

/** What holds the running stack. */
export interface Keeper {
  /** One at a time: whatever needs the stack to stay what it is. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Undefined while the stack is not open. */
  current(): { clock: Pick<AdjustableClock, 'state'>; node: SavedNode | undefined } | undefined;
  /** Puts other files in the place of its own, and resolves when it answers with them; to be called in `alone`. */
  replace(replacement: {
    parts: ReadonlyMap<string, Buffer>;
    clockStart?: ClockStart | undefined;
    onOpened?: (() => void) | undefined;
  }): Promise<{ clock: string; brands: readonly unknown[]; users: readonly unknown[] }>;
}

export interface Restored {
  /** Its name, or the path of its file. */
  from: string;
  chain: { block: number; hash: string };
  clock: { now: string; frozen: boolean };
  tookMs: number;
}

export type Snapshots = ReturnType<typeof createSnapshots>;

interface SnapshotsDeps {
  /** Absent where nothing can be undone. */
  undo?: UndoPoints | undefined;
  keeper: Keeper;
  dataDir: string;
  /** The ledger is a file of ours. */
  hasLedgerFile: boolean;
  /** The machine's. */
  clock: Pick<Clock, 'now'>;
}

export function createSnapshots(deps: SnapshotsDeps) {
  const stack = createStack(deps);
  return { ...savingCalls(stack), ...replacingCalls(stack), ...undoCalls(stack), ...fileCalls(stack) };
}

type Stack = ReturnType<typeof createStack>;

/** The running stack, and the folder of its snapshots. */
function createStack(deps: SnapshotsDeps) {
  const { keeper, dataDir, clock } = deps;
  const folder = snapshotFolder(join(dataDir, SNAPSHOTS));

  const running = (): Running => {
    const running = keeper.current();
    if (!running) throw new Error('the stack is not open');
    const { node } = running;
    if (!deps.hasLedgerFile || !node) {
      throw unsupported(deps.hasLedgerFile);
    }
    return { dataDir, clock: running.clock, node };
  };
  const take = (name: string, note: string | null) =>
    takeSnapshot(running(), { name, note, atMs: clock.now() });

  /** Puts it in place; to be called in `alone`. */
  async function putInPlace(
    snapshot: Snapshot,
    from: string,
    onOpened: (() => void) | undefined,
  ): Promise<Restored> {
    running();
    const elapsedMs = stopwatch();
    const { manifest, parts } = snapshot;
    const clockStart = clockStartOf(manifest, clock.now());
    const ready = await keeper.replace({ parts, clockStart, onOpened });
    const { block, hash } = manifest.chain;
    return {
      from,
      chain: { block, hash },
      clock: { now: ready.clock, frozen: manifest.clock.frozen },
      tookMs: Math.round(elapsedMs()),
    };
  }

  return { ...deps, folder, running, take, putInPlace };
}

/** What leaves the stack as it is. */
const savingCalls = ({ keeper, folder, take }: Stack) => ({
  save: (wish: { name?: string | undefined; note?: string | undefined; replace?: boolean | undefined }) =>
    keeper.alone(async (): Promise<ListedSnapshot & { tookMs: number }> => {
      const elapsedMs = stopwatch();
      const name = wish.name ?? (await folder.freeName());
      folder.refuseTaken(name, wish.replace ?? false);
      const saved = await folder.write(await take(name, wish.note ?? null));
      return { ...saved, tookMs: Math.round(elapsedMs()) };
    }),
  list: folder.list,
  show: folder.show,
  file: async (name: string) => readFile(folder.path(name)),
  remove: (name: string) => keeper.alone(() => folder.remove(name)),
  /** What is different in `to`, another snapshot or `now`, from what it was in `from`. */
  async diff(from: string, to: string): Promise<SnapshotDiff> {
    const before = await folder.read(from);
    const after = to === 'now' ? await keeper.alone(() => take('snapshot', null)) : await folder.read(to);
    return diffImages({ ...before, name: from }, { ...after, name: to });
  },
});

/** What puts other data in the place of the stack's. */
const replacingCalls = ({ keeper, folder, running, putInPlace, undo }: Stack) => ({
  restore: (which: { name: string } | { file: string }) =>
    keeper.alone(async () => {
      const isNamed = 'name' in which;
      const snapshot = isNamed ? await folder.read(which.name) : await readChecked(which.file);
      const onOpened = await undo?.beforeReplacing('/_rewards/restore');
      return putInPlace(snapshot, isNamed ? which.name : which.file, onOpened);
    }),
  /** Begins anew, as the seed files say. */
  reset: ({ keep }: { keep?: 'clock'[] | undefined }) =>
    keeper.alone(async () => {
      const elapsedMs = stopwatch();
      const { nowMs, frozen, offsetMs } = running().clock.state();
      const onOpened = await undo?.beforeReplacing('/_rewards/reset');
      const kept = frozen ? { startMs: nowMs, frozen } : { offsetMs };
      const ready = await keeper.replace({
        parts: new Map(),
        clockStart: keep?.includes('clock') ? kept : undefined,
        onOpened,
      });
      return {
        clock: ready.clock,
        brands: ready.brands.length,
        users: ready.users.length,
        tookMs: Math.round(elapsedMs()),
      };
    }),
});

/** Goes back to before the latest change. */
const undoCalls = ({ keeper, running, clock, undo }: Stack) => ({
  undo: () =>
    keeper.alone(async () => {
      const elapsedMs = stopwatch();
      running();
      const point = undo?.last();
      const end = point?.end;
      if (!undo || !point || !end) throw nothingToUndo();
      const clockStart = clockStartOf({ clock: point.clock, chain: { id: 0, ...end } }, clock.now());
      const ready = await keeper.replace({ parts: undo.parts(point), clockStart, onOpened: point.undone });
      const { block, hash } = end;
      return {
        undone: point.changes,
        chain: { block, hash },
        clock: { now: ready.clock, frozen: point.clock.frozen },
        tookMs: Math.round(elapsedMs()),
      };
    }),
});

const nothingToUndo = () =>
  new SnapshotError('nothing_to_undo', {
    message: 'There is nothing to undo: no request has changed anything since the oldest state that is kept',
    fix: '`rewards snapshot list` shows what can be restored.',
  });

/** Snapshots that come from elsewhere, and go there. */
const fileCalls = ({ keeper, folder, dataDir, clock, hasLedgerFile, take }: Stack) => ({
  /** Writes a snapshot of the stack as it is now into a file, in the place of an older one. */
  exportTo: (path: string) =>
    keeper.alone(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeSnapshotFile(await take(basename(path).replace(/\.rewards$/, ''), null), path);
    }),
  /**
   * What a stack that is being started takes from a snapshot's file. The data that its folder has so far becomes the
   * snapshot `before-import`.
   */
  async imported(
    path: string,
    start: { clockStartMs?: number | undefined; frozen: boolean; rpcUrl?: string | undefined },
  ) {
    if (!hasLedgerFile || start.rpcUrl !== undefined) throw unsupported(hasLedgerFile);
    const { manifest, parts } = await readChecked(path);
    const atMs = clock.now();
    const before = await takeOfFiles(dataDir, { name: BEFORE_IMPORT, note: `before ${path}`, atMs });
    if (before) await folder.write(before);
    const { clockStartMs, frozen } = start;
    const clockStart = clockStartMs === undefined ? clockStartOf(manifest, atMs) : { startMs: clockStartMs };
    return { parts, clockStart: frozen ? frozenAt(clockStart, atMs) : clockStart };
  },
});

/** What a folder had before a snapshot was imported into it. */
const BEFORE_IMPORT = 'before-import';

const frozenAt = ({ startMs, offsetMs = 0 }: ClockStart, realNowMs: number): ClockStart => ({
  startMs: startMs ?? realNowMs + offsetMs,
  frozen: true,
});

const unsupported = (hasLedgerFile: boolean) =>
  new SnapshotError('snapshot_unsupported', {
    message: hasLedgerFile
      ? 'The chain of this stack is a node of your own, and a snapshot takes ledger and chain together'
      : 'This stack keeps its data in a database of its own, and a snapshot takes the file of the ledger',
    fix: 'Run `rewards serve` without --rpc-url and --database-url.',
  });

/**
 * A frozen clock stands where it stood. One that runs goes on from there, at the earliest a second after the newest block,
 * and up to a second later: whole seconds ahead of the machine's, so that the next block carries this clock's second.
 */
function clockStartOf({ clock, chain }: Pick<Manifest, 'clock' | 'chain'>, realNowMs: number): ClockStart {
  if (clock.frozen) return { startMs: clock.nowMs, frozen: true };
  const earliestMs = Math.max(clock.nowMs, (chain.timestampSeconds + 1) * 1_000);
  return { offsetMs: Math.ceil((earliestMs - realNowMs) / 1_000) * 1_000 };
}
