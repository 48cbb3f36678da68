/** The exit codes. Finer distinctions are in `error.code` of the JSON output. */

export const exitCodes = {
  /** Done; also an expected refusal. */
  done: 0,
  /** The answer is no: a refusal or a failed check. */
  refused: 1,
  /** A wrong flag or file; nothing was sent. */
  usage: 2,
  /** The target was unreachable or too slow; trying again may help. */
  unreachable: 3,
  /** The user must fix something first: a port that is taken, a missing program, the wrong kind of target. */
  precondition: 5,
  /** `start` only: a temporary failure; the supervisor should start it again. */
  temporary: 75,
  /** `load` only: a threshold was crossed. */
  threshold: 99,
  /** Stopped by SIGINT before it was finished. */
  interrupted: 130,
  /** Stopped by SIGTERM before it was finished. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
