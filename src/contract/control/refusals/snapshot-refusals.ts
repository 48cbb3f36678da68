/** Why the emulator does not take, read or open a snapshot: the part of the control host's error table. */
import type { RefusalRows, RefusalStatus } from '../../refusals.ts';

/** Both sentences are about this snapshot. */
export interface SnapshotProblem {
  message: string;
  fix: string;
}

export type SnapshotReason =
  | 'invalid_snapshot_name'
  | 'snapshot_not_found'
  | 'snapshot_exists'
  | 'snapshot_damaged'
  | 'snapshot_newer'
  | 'snapshot_too_large'
  | 'snapshot_unsupported'
  | 'snapshot_not_opened'
  | 'nothing_to_undo';

export type SnapshotRefusal = { [R in SnapshotReason]: { code: R } & SnapshotProblem }[SnapshotReason];

const row = (code: SnapshotReason, status: RefusalStatus, when: string, example: SnapshotProblem) => ({
  status,
  when,
  example,
  says: ({ message, fix }: SnapshotProblem) => ({ error: message, message: fix, details: { reason: code } }),
});

export const snapshotRefusals: RefusalRows<SnapshotRefusal> = {
  invalid_snapshot_name: row('invalid_snapshot_name', 400, 'the name cannot be that of a snapshot', {
    message: '"../base" is not a name for a snapshot',
    fix: 'Begin with a letter or digit; up to 63 more letters, digits, dots, dashes or underscores may follow. `now` is the running stack.',
  }),
  snapshot_not_found: row('snapshot_not_found', 404, 'there is no such snapshot or file', {
    message: 'There is no snapshot base',
    fix: '`rewards snapshot list` shows those of this stack.',
  }),
  snapshot_exists: row('snapshot_exists', 409, 'a snapshot has the name already', {
    message: 'There is a snapshot base already',
    fix: 'Take another name, or replace it with --replace.',
  }),
  snapshot_damaged: row('snapshot_damaged', 400, 'the file is damaged, cut short, or no snapshot', {
    message: '/tmp/base.rewards cannot be read as a snapshot: it ends too early; nothing was changed',
    fix: 'Take another copy of the file, or another snapshot.',
  }),
  snapshot_newer: row('snapshot_newer', 409, 'a newer version of rewards has written the snapshot', {
    message:
      '/tmp/base.rewards is of a newer version of rewards: its format is 2, and this one knows 1; nothing was changed',
    fix: 'Run the newer version.',
  }),
  snapshot_too_large: row('snapshot_too_large', 413, 'the snapshot, or what is in it, is too large', {
    message: 'ledger.sqlite has 300000000 bytes, and a snapshot takes at most 268435456',
    fix: 'Stop the stack and copy its data folder, or begin anew with `rewards reset`.',
  }),
  snapshot_unsupported: row('snapshot_unsupported', 409, 'ledger or chain are not files of this stack', {
    message:
      'This stack keeps its data in a database of its own, and a snapshot takes the file of the ledger',
    fix: 'Run `rewards serve` without --rpc-url and --database-url.',
  }),
  snapshot_not_opened: row(
    'snapshot_not_opened',
    500,
    'the stack did not open with it, and has its former data back',
    {
      message: 'The stack could not be opened with it: the disk is full; the former data is back',
      fix: 'Look at the log of the stack; another snapshot may open.',
    },
  ),
  nothing_to_undo: row('nothing_to_undo', 409, 'nothing was changed since the oldest point that is kept', {
    message: 'There is nothing to undo: no request has changed anything since this stack was started',
    fix: '`rewards snapshot list` shows what can be restored.',
  }),
};
