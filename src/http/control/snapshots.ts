/** Snapshots of the emulator over the control API. */
import type { Context } from 'hono';
import type { AnswerOf, InputOf } from '../../contract/control/control-endpoint.ts';
import type { SnapshotRefusal } from '../../contract/control/refusals/snapshot-refusals.ts';
import {
  diffSnapshots,
  downloadSnapshot,
  listSnapshots,
  removeSnapshot,
  resetStack,
  restoreSnapshot,
  saveSnapshot,
  showSnapshot,
  undo,
} from '../../contract/control/snapshots.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

/** What is there, or an expected no. */
type Or<T> = Promise<T | { refusal: SnapshotRefusal }>;
type Answer<E> = Or<AnswerOf<E>>;

export interface ControlSnapshotsDeps {
  snapshots: {
    save(request: InputOf<typeof saveSnapshot>['body']): Answer<typeof saveSnapshot>;
    list(): Answer<typeof listSnapshots>;
    show(name: string): Answer<typeof showSnapshot>;
    diff(from: string, to: string): Answer<typeof diffSnapshots>;
    file(name: string): Or<{ content: Uint8Array }>;
    remove(name: string): Answer<typeof removeSnapshot>;
    restore(request: InputOf<typeof restoreSnapshot>['body']): Answer<typeof restoreSnapshot>;
    undo(): Answer<typeof undo>;
    reset(request: InputOf<typeof resetStack>['body']): Answer<typeof resetStack>;
  };
  /** A snapshot holds the secrets of its brands: a session that may only look does not get the file. */
  maySeeSecrets: (context: Context) => boolean;
}

export const controlSnapshots = ({ snapshots, maySeeSecrets }: ControlSnapshotsDeps): ControlRoute[] => [
  controlHandler(saveSnapshot, ({ body }) => snapshots.save(body)),
  controlHandler(listSnapshots, () => snapshots.list()),
  controlHandler(showSnapshot, ({ path }) => snapshots.show(path.name)),
  controlHandler(diffSnapshots, ({ path, query }) => snapshots.diff(path.name, query.to ?? 'now')),
  controlHandler(downloadSnapshot, async ({ path: { name } }, context) => {
    if (!maySeeSecrets(context)) return { refusal: { code: 'token_missing', guards: 'secrets' } };
    const file = await snapshots.file(name);
    if ('refusal' in file) return file;
    return context.body(file.content as Uint8Array<ArrayBuffer>, 200, {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="${name}.rewards"`,
      'cache-control': 'no-store',
    });
  }),
  controlHandler(removeSnapshot, ({ path }) => snapshots.remove(path.name)),
  controlHandler(restoreSnapshot, ({ body }) => snapshots.restore(body)),
  controlHandler(undo, () => snapshots.undo()),
  controlHandler(resetStack, ({ body }) => snapshots.reset(body)),
];
