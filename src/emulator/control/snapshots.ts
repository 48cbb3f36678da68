/** What the control API does with snapshots: the refusals of the emulator as those of the API. */
import type {
  ControlSnapshotsDeps,
  SnapshotRefused,
} from '../../http/control/snapshots/control-snapshots.ts';
import type { Snapshots } from '../snapshots/create-snapshots.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';

export function controlledSnapshots(snapshots: Snapshots): ControlSnapshotsDeps['snapshots'] {
  return {
    save: (wish) => refusing(() => snapshots.save(wish)),
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
    reset: (wish) => refusing(() => snapshots.reset(wish)),
    restore: (wish) => refusing(() => snapshots.restore(wish)),
  };
}

async function refusing<T>(work: () => Promise<T>): Promise<T | SnapshotRefused> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const { reason: code, message, fix } = error;
    return { refused: { code, message, fix } };
  }
}
