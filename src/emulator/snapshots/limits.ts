/** Every limit of snapshots and of undo, with its reason. */
export const snapshotSettings = {
  /** Of the emulator: they are worked on in memory, by programs that a developer runs beside a browser and an editor. */
  snapshots: {
    /** Of one store; a million claims have more, and such a stack is copied as a folder. */
    storeBytesMax: 256 * 1024 * 1024,
    /** Stores compress to a tenth or less: no snapshot of ours is larger. */
    fileBytesMax: 256 * 1024 * 1024,
    /** Both stores and a state of the chain. */
    unpackedBytesMax: 600 * 1024 * 1024,
    /** A few hundred bytes for each part, and a line for each table. */
    manifestBytesMax: 64 * 1024,
    /** What a list shows; the folder may hold more. */
    listMax: 1_000,
  },
  /** Where `undo` goes back to: states that are kept in memory, all but the newest as what differs from the next one. */
  undo: {
    /** Two megabytes or so for all of them, on a small stack. */
    pointsMax: 20,
    /** A request waits for its state no longer; then it is undone together with the one before. */
    takeMaxMs: 250,
    /** Copying takes a millisecond for each megabyte, before each change: a larger ledger has no undo. */
    ledgerBytesMax: 8 * 1024 * 1024,
  },
  /** While the emulator puts a snapshot in the place of its data, behind its listeners. */
  restore: {
    /** Requests that come meanwhile wait for it: closing, opening and replaying a long chain take seconds. */
    waitMaxMs: 20_000,
    /** Requests under way may need others before they are answered: so long, new ones are let in. */
    settleMs: 300,
  },
} as const;
