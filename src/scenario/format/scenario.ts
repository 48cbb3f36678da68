/** A scenario as it was read: its steps, and where each part of it stands in its file. */
import type { FileProblem } from '../../lib/yaml-document.ts';
import type { Path } from '../steps/match.ts';
import type { ScenarioFile } from './scenario-schema.ts';

/** A problem with the line that it is in. */
export interface PlacedProblem extends FileProblem {
  source: string;
}

/** A step of a file, read: its kind, what it does and what stands around it. */
export interface Step {
  path: Path;
  kind: string;
  name: string;
  input: unknown;
  fields: Record<string, unknown>;
  /** Of a group. */
  steps: Step[];
}

export interface Scenario {
  /** The name under which it was given. */
  file: string;
  data: ScenarioFile;
  steps: Step[];
  always: Step[];
  /** Where a path of the file stands; of a value that is missing, its nearest parent. */
  placeOf: (path: Path, part?: 'key' | 'value') => { line: number; col: number; source: string };
}

export type Reading = { scenario: Scenario } | { problems: PlacedProblem[] };

/** A step and all steps in it. */
export const everyStep = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [step, ...everyStep(step.steps)]);
