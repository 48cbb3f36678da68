/** Snapshots of the emulator over the control API. */
import type { Context, Handler } from 'hono';
import type { z } from 'zod';
import type { SnapshotRefusal } from '../../../contract/control/snapshots/snapshot-refusals.ts';
import {
  resetWish,
  type restoredShape,
  restoreWish,
  type snapshotDiff,
  type snapshotList,
  type snapshotSaved,
  type snapshotShape,
  snapshotWish,
  type stackReset,
  type undoneShape,
} from '../../../contract/control/snapshots/snapshots.ts';
import { readJsonBody } from '../../frame/body/json-body.ts';
import { BODY_LIMIT_BYTES, refuse } from '../refuse.ts';

/** An expected no. */
export interface SnapshotRefused {
  refused: SnapshotRefusal;
}
type Or<T> = Promise<T | SnapshotRefused>;

export interface ControlSnapshotsDeps {
  snapshots: {
    save(wish: z.infer<typeof snapshotWish>): Or<z.infer<typeof snapshotSaved>>;
    list(): Or<z.infer<typeof snapshotList>>;
    show(name: string): Or<z.infer<typeof snapshotShape>>;
    diff(from: string, to: string): Or<z.infer<typeof snapshotDiff>>;
    file(name: string): Or<{ content: Uint8Array }>;
    remove(name: string): Or<{ removed: string }>;
    restore(wish: z.infer<typeof restoreWish>): Or<z.infer<typeof restoredShape>>;
    undo(): Or<z.infer<typeof undoneShape>>;
    reset(wish: z.infer<typeof resetWish>): Or<z.infer<typeof stackReset>>;
  };
  /** A snapshot holds the secrets of its brands: a session that may only look does not get the file. */
  maySeeSecrets: (context: Context) => boolean;
}

export function controlSnapshots({
  snapshots,
  maySeeSecrets,
}: ControlSnapshotsDeps): Record<string, Handler> {
  return {
    async saveSnapshot(context) {
      const wish = snapshotWish.safeParse(await bodyOf(context));
      if (!wish.success) return refuse(context, { code: 'invalid_body' });
      return answer(context, await snapshots.save(wish.data), 201);
    },
    listSnapshots: async (context) => answer(context, await snapshots.list()),
    showSnapshot: async (context) => answer(context, await snapshots.show(nameOf(context))),
    diffSnapshots: async (context) =>
      answer(context, await snapshots.diff(nameOf(context), context.req.query('to') ?? 'now')),
    async downloadSnapshot(context) {
      if (!maySeeSecrets(context)) return refuse(context, { code: 'token_missing', guards: 'secrets' });
      const name = nameOf(context);
      const file = await snapshots.file(name);
      if ('refused' in file) return refuse(context, file.refused);
      return context.body(file.content as Uint8Array<ArrayBuffer>, 200, {
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="${name}.rewards"`,
        'cache-control': 'no-store',
      });
    },
    removeSnapshot: async (context) => answer(context, await snapshots.remove(nameOf(context))),
    async restoreSnapshot(context) {
      const wish = restoreWish.safeParse(await bodyOf(context));
      if (!wish.success) return refuse(context, { code: 'invalid_body' });
      return answer(context, await snapshots.restore(wish.data));
    },
    undo: async (context) => answer(context, await snapshots.undo()),
    async resetStack(context) {
      const wish = resetWish.safeParse(await bodyOf(context));
      if (!wish.success) return refuse(context, { code: 'invalid_body' });
      return answer(context, await snapshots.reset(wish.data));
    },
  };
}

const nameOf = (context: Context) => context.req.param('name') ?? '';

/** The body as JSON; no body at all wishes nothing in particular. */
async function bodyOf(context: Context): Promise<unknown> {
  if (context.req.raw.body === null || context.req.header('content-length') === '0') return {};
  const body = await readJsonBody(context.req.raw, BODY_LIMIT_BYTES);
  return 'value' in body ? body.value : undefined;
}

const answer = <T extends object>(context: Context, result: T | SnapshotRefused, status: 200 | 201 = 200) =>
  'refused' in result ? refuse(context, result.refused) : context.json(result as object, status);
