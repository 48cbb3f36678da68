/** The emulator's own limits, each with its reason; those of the service are in compose/config.ts. */

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
