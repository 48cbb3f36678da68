/** Why a snapshot cannot be taken, read or put in place. */

export type SnapshotProblem =
  | 'snapshot_damaged'
  | 'snapshot_newer'
  | 'snapshot_too_large'
  | 'snapshot_unsupported'
  | 'snapshot_not_found'
  | 'snapshot_exists'
  | 'invalid_snapshot_name'
  | 'snapshot_not_opened'
  | 'nothing_to_undo';

/** An expected no: `message` says what and why, `fix` what to do. */
export class SnapshotError extends Error {
  readonly reason: SnapshotProblem;
  /** As the command line knows it, where this ends a start. */
  readonly code = 'E_SNAPSHOT';
  readonly fix: string;
  constructor(reason: SnapshotProblem, said: { message: string; fix: string }, options?: ErrorOptions) {
    super(said.message, options);
    this.name = 'SnapshotError';
    this.reason = reason;
    this.fix = said.fix;
  }
}

export const damaged = (what: string, options?: ErrorOptions): SnapshotError =>
  new SnapshotError(
    'snapshot_damaged',
    { message: `${what}; nothing was changed`, fix: 'Take another copy of the file, or another snapshot.' },
    options,
  );
