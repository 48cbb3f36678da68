/** The schema of a scenario file: what a file has around its steps, and what a step has around its work. */
import { z } from 'zod';
import { DURATION_FORM } from '../../lib/duration.ts';
import { stepKinds } from '../steps/all-steps.ts';
import { capabilities } from '../steps/step-context.ts';

export const FORMAT_VERSION = 1;
/** So that a slip of the finger is not a load test; `rewards load` is for that. */
export const REPEAT_MAX = 1_000;
/** More rows than anybody reads in a report. */
export const MATRIX_ROWS_MAX = 100;

const NAME = /^[A-Za-z_][\w-]*$/;
const name = (what: string) => z.string().regex(NAME, `${what} must be letters, digits, _ and -`);
const text = (description: string) =>
  z.string({ error: 'must be a text' }).min(1, 'must not be empty').meta({ description });
const duration = z
  .string({ error: 'must be a duration such as 30s' })
  .regex(DURATION_FORM, 'must be a duration such as 30s');
const count = (most: number) =>
  z
    .int({ error: 'must be a whole number' })
    .min(1, 'must be at least 1')
    .max(most, `must be at most ${most}`);

/** What every step can have beside its work. */
export const modifiers = {
  id: name('an id')
    .optional()
    .meta({ description: `later steps name what it saw: \`\${steps.<id>.body…}\`` }),
  name: text('what it shows, for people').optional(),
  skip: text('leaves the step out, for this reason').optional(),
  'if-supported': z.boolean({ error: 'must be true or false' }).optional().meta({
    description: 'true: left out on a target that cannot do it, in place of the whole file',
  }),
};
/** What steps have that do one thing. */
export const workModifiers = {
  expect: z.unknown().optional().meta({ description: 'what the step must see' }),
  save: z
    .record(z.string().regex(NAME), z.string({ error: 'must be a path such as body.sessionId' }))
    .optional()
    .meta({ description: 'variables to set from what it saw: `{ session: body.sessionId }`' }),
  eventually: z
    .union([duration, z.strictObject({ within: duration })], { error: 'must be a duration such as 30s' })
    .optional()
    .meta({
      description: 'tries again until it is as expected, for so long; on a clock that is ours, of its time',
    }),
  repeat: count(REPEAT_MAX).optional().meta({ description: 'does it so many times' }),
  concurrency: count(REPEAT_MAX)
    .optional()
    .meta({ description: 'so many of the repetitions at once; default: 1' }),
  timeout: duration.optional().meta({ description: 'longest wait for an answer; default: 30s' }),
};

/** What can be expected of a step that is repeated. */
export const repeatedSees = {
  split: 'how many answers have each status, all of them named: `{ 200: 35, 429: 1 }`',
  each: 'what every answer of a status fits: `{ 429: { body: … } }`',
};

/** Steps that hold steps. */
export const groups = ['parallel', 'steps'] as const;

/** The schema of a step of one kind, without what is in `expect`. */
export function stepSchema(kind: string): z.ZodType {
  const input = stepKinds[kind]?.input ?? z.unknown();
  return z.strictObject({ ...modifiers, ...workModifiers, [kind]: input });
}

/** The schema of a group; its steps are looked at one by one. */
export function groupSchema(kind: (typeof groups)[number], step: z.ZodType = z.unknown()): z.ZodType {
  const steps = z.array(step, { error: 'must be a list of steps' }).min(1, 'must have a step');
  const about = { parallel: 'runs these steps at the same time', steps: 'runs these steps in order' };
  return z.strictObject({
    ...modifiers,
    [kind]: steps.meta({ description: about[kind] }),
    ...(kind === 'steps' && { repeat: workModifiers.repeat }),
  });
}

/** The words that a step of a kind can have, for people who mistype one. */
export const stepWords = [...Object.keys(modifiers), ...Object.keys(workModifiers)];

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** The file; steps are unknown here, so that each can be told its own problems. */
export const fileSchema = (step: z.ZodType = z.unknown()) =>
  z.strictObject({
    version: z.literal(FORMAT_VERSION, { error: `must be ${FORMAT_VERSION}` }).meta({ description: '1' }),
    name: text('what it shows, for people'),
    tags: z.array(name('a tag')).optional().meta({ description: 'for `--tag`' }),
    requires: z
      .array(
        z.enum(Object.keys(capabilities) as [string, ...string[]], {
          error: `must be one of ${Object.keys(capabilities).join(', ')}`,
        }),
      )
      .optional()
      .meta({ description: 'refused on a target without them; steps say by themselves what they need' }),
    clock: z
      .strictObject({
        start: text('RFC 3339 time at which its own stack begins').optional(),
        frozen: z.boolean({ error: 'must be true or false' }).optional().meta({
          description: 'its own stack begins with the clock stopped',
        }),
      })
      .optional()
      .meta({ description: 'of its own stack' }),
    seed: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .meta({
        description: 'fixtures of its own stack, relative to the file; default: the demo brand',
      }),
    errors: z.enum(['current', 'earlier'], { error: 'must be current or earlier' }).optional().meta({
      description: 'the wording of a refused cooldown on its own stack',
    }),
    vars: z
      .record(z.string().regex(NAME), z.unknown())
      .optional()
      .meta({ description: `\`\${vars.<name>}\`` }),
    secret: z.array(z.string()).optional().meta({ description: 'variables whose values no report shows' }),
    matrix: z
      .record(z.string().regex(NAME), z.array(scalar).min(1, 'must have a value'))
      .optional()
      .meta({ description: 'runs the file once for each combination, each on a stack of its own' }),
    steps: z
      .array(step, { error: 'must be a list of steps' })
      .min(1, 'must have a step')
      .meta({ description: 'in the order in which they run; the first failure ends them' }),
    always: z.array(step, { error: 'must be a list of steps' }).optional().meta({
      description: 'steps that run at the end, after a failure as well',
    }),
  });

export type ScenarioFile = z.output<ReturnType<typeof fileSchema>>;

/** The whole format as JSON Schema, for editors. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const step: z.ZodType = z
    .lazy(() =>
      z.union([
        ...groups.map((kind) => groupSchema(kind, step)),
        ...Object.keys(stepKinds).map((kind) => publishedStep(kind)),
      ]),
    )
    .meta({ id: 'Step' });
  return {
    ...z.toJSONSchema(fileSchema(step), { target: 'draft-2020-12', io: 'input' }),
    title: 'A scenario of rewards',
  };
}

/** With what can be expected; a value of an expectation is anything. */
function publishedStep(kind: string): z.ZodType {
  const { sees = {}, input = z.unknown(), about = '' } = stepKinds[kind] ?? {};
  const fields = Object.entries({ ...sees, ...repeatedSees }).map(
    ([key, description]): [string, z.ZodType] => [key, z.unknown().optional().meta({ description })],
  );
  const expect = z.strictObject(Object.fromEntries(fields)).optional();
  return z
    .strictObject({ ...modifiers, ...workModifiers, expect, [kind]: input })
    .meta({ description: about });
}
