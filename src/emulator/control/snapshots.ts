/** What the control API does with snapshots: the refusals of the emulator as those of the API. */
import type { SnapshotRefusal } from '../../contract/control/snapshot-refusals.ts';
import type { ControlSnapshotsDeps } from '../../http/control/snapshots.ts';
import type { Snapshots } from '../snapshots/create-snapshots.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';

export function controlledSnapshots(snapshots: Snapshots): ControlSnapshotsDeps['snapshots'] {
  return {
    save: (request) => refusing(() => snapshots.save(request)),
    list: () => refusing(snapshots.list),
    show: (name) => refusing(() => snapshots.show(name)),
    diff: (from, to) => refusing(() => snapshots.diff(from, to)),
    file: (name) => refusing(async () => ({ content: await snapshots.file(name) })),
    remove: (name) =>
      refusing(async () => {
        await snapshots.remove(name);
        return { removed: name };
      }),
    undo: () => refusing(snapshots.undo),
    reset: (request) => refusing(() => snapshots.reset(request)),
    restore: (request) => refusing(() => snapshots.restore(request)),
  };
}

async function refusing<T>(work: () => Promise<T>): Promise<T | { refusal: SnapshotRefusal }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const { reason: code, message, fix } = error;
    return { refusal: { code, message, fix } };
  }
}
