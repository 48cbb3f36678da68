/** Work of seconds or minutes that a stack does in a process of its own: load tests of itself, and scenarios. */
import { z } from 'zod';
import { PADDED_DURATION_FORM } from '../../lib/duration.ts';
import { loadLimits } from '../../lib/load-limits.ts';
import { named } from '../endpoint.ts';
import { type AnswerOf, endpoint, type InputOf } from './control-endpoint.ts';
import { bodyOf, instant, requiredText } from './fields.ts';

const RATE_MAX = 999_999;
const THRESHOLDS_MAX = 20;
const TEXT_MAX = 300;
/** As many as somebody would look at. */
export const SCENARIO_FILES_MAX = 200;

const count = (most: number) => {
  const error = `must be a whole number from 1 to ${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error });
};
const flag = () => z.boolean({ error: 'must be true or false' });

const loadWish = bodyOf({
  test: z
    .enum(['events', 'relay'], { error: 'must be events or relay' })
    .meta({ description: 'What is sent: events of fresh users, or their calls of the relay.' }),
  users: count(loadLimits.usersMax).default(loadLimits.usersDefault),
  perUser: count(loadLimits.perUserMax)
    .optional()
    .meta({ description: 'How many of each user. Default: 10 events, or 40 calls.' }),
  concurrency: count(loadLimits.concurrencyMax)
    .optional()
    .meta({ description: `In progress at once. Default: ${loadLimits.concurrencyDefault}.` }),
  rate: z
    .number({ error: 'must be a number a second' })
    .positive({ error: 'must be a number a second' })
    .max(RATE_MAX)
    .optional()
    .meta({ description: 'Started a second, in place of `concurrency`.' }),
  duration: z
    .string({ error: 'must be a duration such as 30s' })
    .regex(PADDED_DURATION_FORM, { error: 'must be a duration such as 30s' })
    .optional()
    .meta({ description: 'None starts later than this.' }),
  brand: requiredText(TEXT_MAX, 'must be the id or a domain of a brand').optional(),
  event: requiredText(TEXT_MAX, 'must be the name of an event')
    .optional()
    .meta({ description: 'Of a test of events. Default: account_creation.' }),
  oneAddress: flag()
    .optional()
    .meta({ description: 'Of a test of the relay: tests the limit of an address, in place of the users’.' }),
  reset: flag()
    .default(true)
    .meta({ description: 'Of a test of the relay: moves the clock to the end of the windows.' }),
  thresholds: z
    .array(requiredText(TEXT_MAX, 'must be a rule such as p95<200ms'), { error: 'must be a list of rules' })
    .max(THRESHOLDS_MAX)
    .default([]),
}).refine(({ rate, concurrency }) => rate === undefined || concurrency === undefined, {
  path: ['rate'],
  error: 'and concurrency exclude each other',
});

const scenariosWish = bodyOf({
  files: z
    .array(requiredText(TEXT_MAX, 'must be the path of a file'), { error: 'must be a list of files' })
    .min(1, { error: 'must name a file' })
    .max(SCENARIO_FILES_MAX, { error: `must name ${SCENARIO_FILES_MAX} files at most` })
    .meta({ description: 'Of those that `GET /scenarios` lists.' }),
});

const milliseconds = () => z.number().nullable();

const loadSecond = z.object({
  atMs: z.int().meta({ description: 'Its end, since the test began to run.' }),
  phase: z.string(),
  done: z.int(),
  of: z.int(),
  admitted: z.int().meta({ description: 'Answers that came within it.' }),
  refused: z.int(),
  failed: z.int(),
  latencyMs: z.object({ p50: milliseconds(), p99: milliseconds() }),
});
/** What `rewards load -o jsonl` says every second. */
export type LoadSecond = z.output<typeof loadSecond>;

const scenarioStep = z.object({
  file: z.string(),
  case: z.string().meta({ description: 'Its name, with its row of the matrix.' }),
  name: z.string(),
  kind: z.string(),
  line: z.int(),
  status: z.enum(['passed', 'failed', 'skipped']),
  durationMs: z.int(),
  at: z.string().nullable().meta({ description: 'By the clock of its stack.' }),
  message: z.string().nullable().meta({ description: 'Why it failed, or was skipped.' }),
});
/** What `rewards scenario run -o jsonl` says of every step as it ends. */
export type ScenarioStep = z.output<typeof scenarioStep>;

const jobShape = z.object({
  id: z.string(),
  kind: z.enum(['load', 'scenarios']),
  command: z.string().meta({ description: 'Which does the same in a shell.' }),
  state: z.enum(['running', 'passed', 'failed', 'stopped']),
  startedAt: instant().meta({ description: "By the machine's clock." }),
  endedAt: instant().nullable(),
  progress: z
    .object({ phase: z.string(), done: z.int(), of: z.int() })
    .nullable()
    .meta({ description: 'Null until it tells of some.' }),
  problem: z
    .object({ code: z.string(), message: z.string(), fix: z.string() })
    .nullable()
    .meta({ description: 'Why it failed.' }),
});
/** A job as lists show it. */
export type Job = z.output<typeof jobShape>;

const jobDetail = jobShape.extend({
  seconds: z.array(loadSecond).meta({ description: 'Of a load test.' }),
  steps: z.array(scenarioStep).meta({ description: 'Of scenarios, in the order of their ends.' }),
  leftOut: z.int().meta({ description: 'Earlier seconds or steps that are not kept.' }),
  report: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'What the command prints as `data` with `-o json`; null until its end.' }),
});
export type JobDetail = z.output<typeof jobDetail>;

const path = z.object({ job: z.string().meta({ description: 'Its id, such as `job-1`.' }) });
const started = { description: 'The job, which has begun.', body: named('JobStarted', jobShape) };

export const listJobs = endpoint('GET /jobs', {
  id: 'listJobs',
  tag: 'Jobs',
  summary: 'What has been started since the stack runs, newest first',
  answer: {
    description: 'The jobs; the latest 20 are kept.',
    body: named('JobList', z.object({ jobs: z.array(jobShape) })),
  },
});

export const showJob = endpoint('GET /jobs/{job}', {
  id: 'showJob',
  tag: 'Jobs',
  summary: 'One job: how far it is, and its report',
  path,
  example: { path: { job: 'job-1' } },
  answer: { description: 'The job.', body: named('Job', jobDetail) },
  refusals: ['job_not_found'],
});

export const startLoad = endpoint('POST /jobs/load', {
  id: 'startLoad',
  tag: 'Jobs',
  summary: 'Start a load test of this stack',
  description:
    'In a process of its own, as `rewards load` does. What it sends is paid, on this stack: save a snapshot before.',
  status: 201,
  body: named('LoadWish', loadWish),
  example: { body: { test: 'events', users: 50, perUser: 10 } },
  answer: started,
  refusals: ['invalid_body', 'invalid_settings', 'job_running', 'jobs_unsupported'],
  undo: 'passes',
});
export type LoadWish = InputOf<typeof startLoad>['body'];

export const startScenarios = endpoint('POST /jobs/scenarios', {
  id: 'startScenarios',
  tag: 'Jobs',
  summary: 'Run scenarios, each on a fresh stack of its own',
  description: 'In a process of its own, as `rewards scenario run` does; this stack is left alone.',
  status: 201,
  body: named('ScenariosWish', scenariosWish),
  example: { body: { files: ['scenarios/week.yaml'] } },
  answer: started,
  refusals: ['invalid_body', 'invalid_settings', 'scenario_not_found', 'job_running', 'jobs_unsupported'],
  undo: 'passes',
});

export const stopJob = endpoint('POST /jobs/{job}/stop', {
  id: 'stopJob',
  tag: 'Jobs',
  summary: 'Stop a job',
  description: 'As Ctrl-C does. One that has ended stays as it is.',
  path,
  example: { path: { job: 'job-1' } },
  answer: { description: 'The job.', body: named('JobStopped', jobShape) },
  refusals: ['job_not_found'],
  undo: 'passes',
});

export const listScenarios = endpoint('GET /scenarios', {
  id: 'listScenarios',
  tag: 'Jobs',
  summary: 'The scenarios of this project',
  description: 'Every *.yaml file below `scenarios`, in the folder in which the stack was started.',
  answer: {
    description: 'The files, and what is wrong in them.',
    body: named(
      'ScenarioList',
      z.object({
        scenarios: z.array(
          z.object({
            file: z.string(),
            name: z.string(),
            tags: z.array(z.string()),
            steps: z.int().meta({ description: 'Those inside of groups not counted.' }),
          }),
        ),
        problems: z.array(z.object({ file: z.string(), line: z.int(), message: z.string() })),
      }),
    ),
  },
  refusals: ['jobs_unsupported'],
});
export type ScenarioList = AnswerOf<typeof listScenarios>;

export const recordScenario = endpoint('GET /scenarios/recording', {
  id: 'recordScenario',
  tag: 'Jobs',
  summary: 'The requests of this stack as a scenario that passes',
  description: 'What `rewards scenario record` writes. A scenario starts on a fresh stack.',
  query: z.object({
    after: z
      .string()
      .max(TEXT_MAX)
      .optional()
      .meta({ description: 'Only requests after the one of this id; without it, all that the log has.' }),
    title: z.string().max(TEXT_MAX).optional(),
  }),
  example: { query: { title: 'a bug' } },
  answer: {
    description: 'The scenario.',
    body: named(
      'RecordedScenario',
      z.object({
        yaml: z.string(),
        steps: z.int(),
        leftOut: z.array(z.object({ method: z.string(), path: z.string(), why: z.string() })),
      }),
    ),
  },
  refusals: ['invalid_filter', 'jobs_unsupported'],
});
export type RecordedScenario = AnswerOf<typeof recordScenario>;

export const jobEndpoints = [
  listJobs,
  showJob,
  startLoad,
  startScenarios,
  stopJob,
  listScenarios,
  recordScenario,
];
