/** What the shell learns: few numbers, one table. Anything finer is `error.code` in the JSON output. */

export const exitCodes = {
  /** Did what was asked, a refusal that was expected included. */
  done: 0,
  /** Asked, and the answer is no: a refusal, a failed check. */
  refused: 1,
  /** A bad flag or a bad file; nothing was sent. */
  usage: 2,
  /** Could not reach the target, or waited too long; trying again may help. */
  unreachable: 3,
  /** Something must be put right first: a taken port, a missing program, the wrong kind of target. */
  precondition: 5,
  /** `start` only: a passing failure, the supervisor should start it again. */
  temporary: 75,
  /** `load` only: a threshold was crossed. */
  threshold: 99,
  /** Stopped by SIGINT before it was finished. */
  interrupted: 130,
  /** Stopped by SIGTERM before it was finished. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
