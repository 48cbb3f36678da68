/** Snapshots of a whole stack, as the control API has them. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant } from './fields.ts';

const NOTE_MAX = 500;
/** Nothing is said of single fields: a body has few. */
const unfit = () => ({ code: 'invalid_body' }) as const;

const snapshotRequest = z.strictObject({
  name: z.string().optional().meta({ description: 'Default: snapshot-1, or the next that is free.' }),
  note: z.string().max(NOTE_MAX).optional(),
  replace: z.boolean().optional().meta({ description: 'In the place of an older one of that name.' }),
});
const restoreRequest = z.union([
  z.strictObject({ name: z.string() }),
  z.strictObject({ file: z.string().meta({ description: 'A path on the machine of the stack.' }) }),
]);

const resetRequest = z.strictObject({
  keep: z
    .array(z.enum(['clock']))
    .optional()
    .meta({ description: 'What goes on as it is.' }),
});

const snapshotFields = {
  format: z.int(),
  name: z.string(),
  note: z.string().nullable(),
  takenAt: instant().meta({ description: "By the machine's clock." }),
  file: z.string(),
  bytes: z.int(),
  program: z.string(),
  migration: z.int().meta({ description: 'The newest of its ledger.' }),
  chain: z.object({ id: z.int(), block: z.int(), hash: z.string(), timestampSeconds: z.int() }),
  clock: z.object({ nowMs: z.number(), frozen: z.boolean() }),
  rows: z.record(z.string(), z.int()).meta({ description: "Of each table; `site.` for the site's store." }),
  parts: z.array(z.object({ name: z.string(), bytes: z.int(), sha256: z.string() })),
};
const snapshotShape = z.object(snapshotFields);
const snapshotSaved = snapshotShape.extend({ tookMs: z.int() });
const snapshotList = z.object({
  snapshots: z.array(snapshotShape).meta({ description: 'Newest first.' }),
  unreadable: z.array(z.string()).meta({ description: 'Files of that ending that are no snapshots.' }),
});
const restoredShape = z.object({
  from: z.string(),
  chain: z.object({ block: z.int(), hash: z.string() }),
  clock: z.object({ now: instant(), frozen: z.boolean() }),
  tookMs: z.int(),
});
const snapshotDiff = z.object({
  from: z.string(),
  to: z.string(),
  isSame: z.boolean(),
  lines: z.array(z.string()).meta({ description: 'For people, such as `+1 reward`.' }),
  users: z
    .array(z.object({ user: z.string(), rwt: z.number() }))
    .meta({ description: 'RWT that a user has been promised more, or less.' }),
  blocks: z.int(),
  clockMs: z.number(),
  tables: z.array(z.object({ table: z.string(), added: z.int(), removed: z.int(), changed: z.int() })),
});
const stackReset = z.object({
  clock: instant(),
  brands: z.int(),
  users: z.int(),
  tookMs: z.int(),
});
const undoneShape = z.object({
  undone: z
    .array(
      z.object({
        id: z.string().nullable().meta({ description: 'The X-Request-Id, where there is one.' }),
        at: instant(),
        method: z.string(),
        path: z.string(),
        status: z.int(),
      }),
    )
    .meta({ description: 'The requests that were taken back, the first of them first.' }),
  chain: z.object({ block: z.int(), hash: z.string() }),
  clock: z.object({ now: instant(), frozen: z.boolean() }),
  tookMs: z.int(),
});
const snapshotRemoved = z.object({ removed: z.string() });

const namePath = z.object({ name: z.string().meta({ description: 'Of the snapshot.' }) });
const path = { name: 'base' };
const UNREADABLE = ['snapshot_damaged', 'snapshot_newer', 'snapshot_too_large'] as const;

export const saveSnapshot = endpoint('POST /snapshot', {
  id: 'saveSnapshot',
  tag: 'Snapshots',
  summary: 'Save ledger, chain, site and clock',
  status: 201,
  description: 'Of one moment, while everything goes on; requests under way are not held up.',
  body: named('SnapshotWish', snapshotRequest),
  bodyOptional: true,
  unfit,
  example: { body: { name: 'base', note: 'before the sale' } },
  answer: { description: 'The snapshot.', body: named('SavedSnapshot', snapshotSaved) },
  refusals: [
    'invalid_body',
    'invalid_snapshot_name',
    'snapshot_exists',
    'snapshot_unsupported',
    'snapshot_too_large',
  ],
  undo: 'passes',
});

export const listSnapshots = endpoint('GET /snapshots', {
  id: 'listSnapshots',
  tag: 'Snapshots',
  summary: 'All snapshots, newest first',
  answer: { description: 'The snapshots.', body: named('SnapshotList', snapshotList) },
});

export const showSnapshot = endpoint('GET /snapshots/{name}', {
  id: 'showSnapshot',
  tag: 'Snapshots',
  summary: 'One snapshot',
  path: namePath,
  example: { path },
  answer: { description: 'The snapshot.', body: named('Snapshot', snapshotShape) },
  refusals: ['invalid_snapshot_name', 'snapshot_not_found', ...UNREADABLE],
});

export const diffSnapshots = endpoint('GET /snapshots/{name}/diff', {
  id: 'diffSnapshots',
  tag: 'Snapshots',
  summary: 'What is different since',
  path: namePath,
  query: z.object({ to: z.string().optional().meta({ description: 'Another one; `now` without it.' }) }),
  example: { path, query: { to: 'now' } },
  answer: { description: 'What came, went and changed.', body: named('SnapshotDiff', snapshotDiff) },
  refusals: ['invalid_snapshot_name', 'snapshot_not_found', ...UNREADABLE, 'snapshot_unsupported'],
});

export const downloadSnapshot = endpoint('GET /snapshots/{name}/file', {
  id: 'downloadSnapshot',
  tag: 'Snapshots',
  summary: 'Its file',
  path: namePath,
  example: { path },
  answer: { description: 'A gzipped tar.', contentType: 'application/gzip' },
  refusals: ['invalid_snapshot_name', 'snapshot_not_found'],
});

export const restoreSnapshot = endpoint('POST /restore', {
  id: 'restoreSnapshot',
  tag: 'Snapshots',
  summary: 'Go back to a snapshot',
  description:
    'Requests that come meanwhile wait. The clock goes on from where it was, at the earliest a second after the newest block.',
  body: named('RestoreWish', restoreRequest),
  bodyOptional: true,
  unfit,
  example: { body: { name: 'base' } },
  answer: { description: 'What the stack is now.', body: named('Restored', restoredShape) },
  refusals: [
    'invalid_body',
    'invalid_snapshot_name',
    'snapshot_not_found',
    ...UNREADABLE,
    'snapshot_unsupported',
    'snapshot_not_opened',
  ],
  undo: 'passes',
});

export const undo = endpoint('POST /undo', {
  id: 'undo',
  tag: 'Snapshots',
  summary: 'Go back to before the latest change',
  description:
    'Takes back the last request that changed something, with all that it set off; requests that were under way together go together. The stacks of `rewards serve` keep the last 20 states.',
  answer: { description: 'What was taken back.', body: named('Undone', undoneShape) },
  refusals: ['nothing_to_undo', 'snapshot_unsupported', 'snapshot_not_opened'],
  undo: 'passes',
});

export const resetStack = endpoint('POST /reset', {
  id: 'resetStack',
  tag: 'Snapshots',
  summary: 'Begin anew, as the seed files say',
  description: 'In place: addresses and the control token stay. Snapshots are kept.',
  body: named('ResetWish', resetRequest),
  bodyOptional: true,
  unfit,
  example: { body: { keep: ['clock'] } },
  answer: { description: 'What the stack is now.', body: named('StackReset', stackReset) },
  refusals: ['invalid_body', 'snapshot_unsupported', 'snapshot_not_opened'],
  undo: 'passes',
});

export const removeSnapshot = endpoint('DELETE /snapshots/{name}', {
  id: 'removeSnapshot',
  tag: 'Snapshots',
  summary: 'Delete a snapshot',
  path: namePath,
  example: { path },
  answer: { description: 'Which one it was.', body: named('RemovedSnapshot', snapshotRemoved) },
  refusals: ['invalid_snapshot_name', 'snapshot_not_found'],
  undo: 'passes',
});

export const snapshotEndpoints = [
  saveSnapshot,
  listSnapshots,
  showSnapshot,
  diffSnapshots,
  downloadSnapshot,
  restoreSnapshot,
  undo,
  resetStack,
  removeSnapshot,
];

export type Snapshot = AnswerOf<typeof showSnapshot>;
export type SavedSnapshot = AnswerOf<typeof saveSnapshot>;
export type SnapshotDiff = AnswerOf<typeof diffSnapshots>;
