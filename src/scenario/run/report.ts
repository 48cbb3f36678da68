/** What a run of scenarios reports: files, their cases, and each step of them. Every form of report is made of this. */

export type Outcome = 'passed' | 'failed' | 'skipped';

/** Lines and columns count from 1. */
export interface Place {
  file: string;
  line: number;
  col: number;
  /** The line itself. */
  source: string;
}

export interface ReportedDifference extends Place {
  /** Such as `body.details.reason`. */
  what: string;
  expected: string;
  got: string;
}

export interface Failure extends Place {
  message: string;
  differences: ReportedDifference[];
  /** Why the service decided as it did, where the target tells. */
  decision: string | null;
  /** The request again, for a shell; what is secret in it is left out. */
  curl: string | null;
}

export interface RequestMade {
  method: string;
  url: string;
  /** Null without an answer. */
  status: number | null;
  requestId: string | null;
}

export interface StepReport {
  name: string;
  /** Such as `event`, or `parallel` for a group. */
  kind: string;
  line: number;
  status: Outcome;
  /** Why it was skipped. */
  reason: string | null;
  failure: Failure | null;
  /** Of this machine's clock. */
  durationMs: number;
  /** By the clock of the target, where that is ours. */
  at: string | null;
  /** The last ones; a step that is repeated makes many. */
  requests: RequestMade[];
  steps: StepReport[];
}

/** What was kept of a case that failed, by its paths; `problem` is why not all of it. */
export interface Kept {
  /** For `rewards serve --import`. */
  snapshot: string | null;
  /** Its newest requests, with their bodies and what decided them. */
  requests: string | null;
  problem: string | null;
}

/** One row of a file's matrix, or the file itself. */
export interface CaseReport {
  name: string;
  matrix: Record<string, unknown>;
  status: Outcome;
  reason: string | null;
  /** Of a case that failed before its first step, such as a stack that did not start. */
  failure: Failure | null;
  durationMs: number;
  /** By the clock of the target, where that is ours. */
  clock: { start: string; end: string } | null;
  steps: StepReport[];
  /** Null unless it failed and was to be kept. */
  kept: Kept | null;
}

export interface FileReport {
  file: string;
  name: string;
  tags: string[];
  durationMs: number;
  cases: CaseReport[];
}

export interface ScenarioReport {
  version: 1;
  program: string;
  target: string | null;
  startedAt: string;
  durationMs: number;
  totals: Record<Outcome, number>;
  files: FileReport[];
}

/** The failed steps of a case, those in groups included; a group fails with one of its own. */
export const failedSteps = (steps: readonly StepReport[]): StepReport[] =>
  steps.flatMap((step) => [...(step.failure ? [step] : []), ...failedSteps(step.steps)]);

/** Every failure of a case. */
export const failuresOf = ({ failure, steps }: CaseReport): Failure[] => [
  ...(failure ? [failure] : []),
  ...failedSteps(steps).flatMap((step) => (step.failure ? [step.failure] : [])),
];
