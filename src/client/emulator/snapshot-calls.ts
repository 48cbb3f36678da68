/** The control API's part for snapshots of the whole stack. */
import type {
  RestoredBody,
  SavedSnapshotBody,
  SnapshotBody,
  SnapshotDiffBody,
  SnapshotListBody,
  StackResetBody,
  UndoneBody,
} from '../bodies.ts';
import type { ControlSend } from '../control-send.ts';
import { queryOf } from '../query.ts';

export function snapshotCalls(send: ControlSend) {
  const one = (name: string) => `/snapshots/${encodeURIComponent(name)}`;
  return {
    /** Without a name, the stack finds one; `replace` puts it in the place of an older one. */
    save: (
      wish: { name?: string | undefined; note?: string | undefined; replace?: boolean | undefined } = {},
    ) => send<SavedSnapshotBody>('POST', '/snapshot', wish),
    list: () => send<SnapshotListBody>('GET', '/snapshots'),
    show: (name: string) => send<SnapshotBody>('GET', one(name)),
    /** `to`: another snapshot, or `now`. */
    diff: (from: string, to = 'now') => send<SnapshotDiffBody>('GET', `${one(from)}/diff${queryOf({ to })}`),
    remove: (name: string) => send<{ removed: string }>('DELETE', one(name)),
    /** A snapshot by its name, or a file by its path on the machine of the stack. Resolves when the stack answers with it. */
    restore: (which: { name: string } | { file: string }) => send<RestoredBody>('POST', '/restore', which),
    /** Takes back the last request that changed something. */
    undo: () => send<UndoneBody>('POST', '/undo', {}),
    /** Begins anew, as the seed files say; `keep: ['clock']` leaves the clock alone. */
    reset: (wish: { keep?: 'clock'[] } = {}) => send<StackResetBody>('POST', '/reset', wish),
  };
}
