/** The files below scenarios/ and what a run of all of them reports, for tests of every one. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileReport } from '../../src/scenario/run/report.ts';

type Step = FileReport['cases'][number]['steps'][number];

/** Every case has a stack of its own, and runs of all files share two processors: on a busy machine they take minutes. */
export const ALL_FILES_MS = 600_000;

/** Half of the time of some is spent waiting: for an answer that does not come, for a node that is away. */
export const FILES_AT_ONCE = '3';

export const root = new URL('../..', import.meta.url).pathname;
export const folder = join(root, 'scenarios');
export const files = (await readdir(folder, { recursive: true }))
  .filter((path) => path.endsWith('.yaml') && !path.split('/').includes('fixtures'))
  .sort();

export const reportOf = (reports: FileReport[], file: string) =>
  reports.find((one) => one.file.endsWith(`scenarios/${file}`));

/** The failures of steps and of the steps in them, in their order. */
export const failed = (steps: Step[]): NonNullable<Step['failure']>[] =>
  steps.flatMap((step) => [...(step.failure ? [step.failure] : []), ...failed(step.steps)]);
