/** The emulator's own limits, those of snapshots and of undo among them, each with its reason; those of the service are in compose/config.ts. */

export const emulatorLimits = {
  /** How the emulated processor brings its events to webhook endpoints. */
  processorDelivery: {
    /** As patient as Stripe, which gives up after three days: 71 h in all. */
    retriesMs: [
      5_000,
      60_000,
      600_000,
      3_600_000,
      6 * 3_600_000,
      16 * 3_600_000,
      24 * 3_600_000,
      24 * 3_600_000,
    ],
    /** Stripe's own patience is not documented; a mint waits for its block. */
    timeoutMs: 20_000,
    /** To one endpoint: more would only wait in one that is slow. */
    atOnceMax: 4,
    /** Enough for an error's body in the log of deliveries. */
    answerMaxBytes: 2_000,
  },
  /** Enough for a test run; large bodies shorten it, so that its memory is bounded as well. */
  requestLog: {
    entriesMax: 2_000,
    bytesMax: 32 * 1024 * 1024,
    /** Above every body that the service takes; what is longer is a page or a script that it gave. */
    bodyMaxBytes: 256 * 1024,
  },
  /** What its own receiver of webhooks keeps: bodies are small, and a developer looks at the latest. */
  inbox: { entriesMax: 1_000, bytesMax: 8 * 1024 * 1024 },
  /** Of what fails on purpose. */
  faults: {
    /** More at once is a mistake: each use of a seam looks through all of them. */
    faultsMax: 50,
    timesMax: 1_000_000,
    /** Longer than everything that the service waits for, and short enough for a stack to stop. */
    slowMaxMs: 120_000,
    /** Windows and cooldowns are about as long; more is what `clock advance` is for. */
    spanMaxMs: 86_400_000,
    /** The clock is moved by days. */
    forMaxMs: 30 * 86_400_000,
  },
  /** Load tests and scenarios, each in a process of its own. */
  jobs: {
    /** What a list shows; a report of many scenarios is a megabyte. */
    keptMax: 20,
    /** A stopped test waits for the answers that are under way, and scenarios close their stacks. */
    stopMaxMs: 10_000,
    /** `serve` has five seconds to end. */
    closeMaxMs: 2_000,
  },
  /** How its clock moves past what falls due. */
  clockMoves: {
    /** What a person reads, and more than a day of one receiver's failures. */
    firedMax: 100,
    /** A retry, an expiry: some milliseconds each, so that a jump over years ends within seconds. */
    stopsMax: 500,
    /** A healthy receiver answers at once; one that hangs would hold a stop up for as long as an attempt may take. */
    stopWaitMs: 5_000,
    /** Less than a command waits for an answer. */
    moveWaitMs: 20_000,
    /** Work of a stop is done within milliseconds. */
    lookEveryMs: 5,
    /** Whose ends are known: more than a test run issues. */
    tokensMax: 1_000,
    /** Whose ends are worked out, a few microseconds each. */
    streaksMax: 1_000,
  },
} as const;

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
