/** Why the emulator starts no load test and no scenario: the part of the control host's error table. */
import type { RefusalRows } from '../../refusals.ts';

export type JobRefusal =
  | { code: 'job_not_found'; name: string }
  | { code: 'job_running'; id: string }
  | { code: 'jobs_unsupported' }
  | { code: 'scenario_not_found'; file: string };

export const jobRefusals: RefusalRows<JobRefusal> = {
  job_not_found: {
    status: 404,
    when: 'no such job is kept',
    example: { name: 'job-9' },
    says: ({ name }) => ({
      error: `No job ${name}`,
      message: 'The latest 20 since the start of the stack are kept; the console lists them.',
      details: { reason: 'job_not_found' },
    }),
  },
  job_running: {
    status: 409,
    when: 'another job has not ended yet: two would measure each other',
    example: { id: 'job-1' },
    says: ({ id }) => ({
      error: `${id} is still running`,
      message: 'Wait for its end, or stop it; two at once would measure each other.',
      details: { reason: 'job_running', id },
    }),
  },
  jobs_unsupported: {
    status: 409,
    when: 'the stack runs inside of a test or another program',
    says: {
      error: 'This stack starts no processes',
      message: 'Run the command in a shell, or start the stack with `rewards serve`.',
      details: { reason: 'jobs_unsupported' },
    },
  },
  scenario_not_found: {
    status: 404,
    when: 'no such file is among the scenarios of the project',
    example: { file: 'scenarios/none.yaml' },
    says: ({ file }) => ({
      error: `No scenario ${file}`,
      message:
        'Files below `scenarios`, where the stack was started, can be run: `rewards scenario lint` names them.',
      details: { reason: 'scenario_not_found' },
    }),
  },
};
