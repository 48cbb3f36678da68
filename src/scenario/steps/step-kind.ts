/** What a kind of step is: the fields that a file writes, what it needs of a target, what it does, what it sees, and what is wrong with its input. */
import { z } from 'zod';
import { DURATION_FORM } from '../../lib/duration.ts';
import { hasVariable } from '../format/variables.ts';
import type { Capability, Seen, StepContext } from './step-context.ts';

/** `advance must be a duration such as 61s`, one for each problem. */
export const inputProblems = (
  issues: readonly z.core.$ZodIssue[],
  above: readonly PropertyKey[] = [],
): string[] =>
  issues.flatMap((issue) => {
    const path = [...above, ...issue.path];
    // Of a value or a variable, the value is what was meant.
    const [first] = issue.code === 'invalid_union' ? issue.errors : [];
    if (first && first.length > 0) return inputProblems(first, path);
    return [[path.map(String).join('.'), issue.message].filter(Boolean).join(' ')];
  });

export interface StepKind<Input = unknown> {
  /** One sentence for people. */
  about: string;
  /** What a target must be able to do for it; some steps need more for some inputs. */
  needs?: Capability | ((input: unknown) => Capability | undefined);
  /** For people, where `needs` is a function. */
  needsText?: string;
  /** What `expect` can name, with what it is. */
  sees: Record<string, string>;
  input: z.ZodType<Input>;
  run: (context: StepContext, input: Input) => Promise<Seen>;
  /** Without `expect`: why the step has failed, if it has. Default: a status of 400 or more. */
  failure?: (seen: Seen) => string | undefined;
}

/** Keeps the type of the input between schema and work. */
export const stepKind = <Input>(kind: StepKind<Input>): StepKind => kind as StepKind;

/** What every answer of the service is seen as. */
export const answer = {
  status: 'of the answer',
  headers: 'with names in small letters',
  body: 'of the answer, as JSON',
};
/** What a kind of step is: the fields that a file writes, what it needs, what it does, and what it sees. */
export const decision = {
  decision: '`rewarded`, `confirmed`, or the name of the check that refused; on an emulator',
};

const variable = z.string().refine(hasVariable, `must be a value, or a variable such as \${vars.amount}`);
const orVariable = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([schema, variable]) as unknown as Schema;

export const text = (description: string) =>
  z.string({ error: 'must be a text' }).min(1, 'must not be empty').meta({ description });
/** A text that is often written as a number. */
export const textOrNumber = (description: string) =>
  z.union([z.string(), z.number()], { error: 'must be a text or a number' }).meta({ description });
export const whole = (description: string, { least = 0, most = 1e15 } = {}) =>
  orVariable(
    z
      .int({ error: 'must be a whole number' })
      .min(least, `must be at least ${least}`)
      .max(most, `must be at most ${most}`),
  ).meta({ description });
export const yesNo = (description: string) =>
  orVariable(z.boolean({ error: 'must be true or false' })).meta({ description });
export const duration = (description: string) =>
  orVariable(
    z
      .string({ error: 'must be a duration such as 61s' })
      .regex(DURATION_FORM, 'must be a duration such as 61s'),
  ).meta({ description });
export const choice = <const Words extends readonly string[]>(words: Words, description: string) =>
  orVariable(z.enum(words, { error: `must be ${words.join(' or ')}` })).meta({ description });
export const anyObject = (description: string) =>
  z.record(z.string(), z.unknown(), { error: 'must be a map of fields' }).meta({ description });
export const userField = () =>
  text('an e-mail, `<platform>:<id>`, or the login of a user of the stack, such as `alice`');
export const brandField = () => text('id or domain of the brand; default: the first').optional();
export const headersField = () =>
  z.record(z.string(), z.string(), { error: 'must be a map of texts' }).optional().meta({
    description: 'headers to send as well',
  });

const hasField = (input: unknown, field: string) =>
  typeof input === 'object' && input !== null && field in input;

/** A need of inputs that have one of these fields. */
export const whenGiven =
  (need: Capability, ...fields: string[]) =>
  (input: unknown): Capability | undefined =>
    fields.some((field) => hasField(input, field)) ? need : undefined;
