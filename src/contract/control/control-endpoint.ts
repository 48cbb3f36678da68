/** An endpoint of the control API as one value: it describes itself, reads requests, and is what the client calls. */
import type { z } from 'zod';
import type { SettingProblem } from '../../rules/brands/settings.ts';
import type { Endpoint, EndpointAnswer, NamedSchema, RequestExample } from '../endpoint.ts';
import type { ControlRefusal, ControlRefusalCode } from './refusals/control-refusals.ts';

export type Issues = readonly z.core.$ZodIssue[];

interface Parts {
  id: string;
  tag: string;
  summary: string;
  description?: string;
  path?: z.ZodType;
  query?: z.ZodType;
  body?: NamedSchema;
  /** A request without a body counts as one with an empty object. */
  bodyOptional?: true;
  /** More than the 64 KB that a body may usually have. */
  bodyMaxBytes?: number;
  example?: Omit<RequestExample, 'summary'> & { summary?: string };
  status?: 200 | 201;
  answer: EndpointAnswer;
  refusals?: readonly ControlRefusalCode[];
  /** The refusal of a request that does not fit; without one, or where it is undefined, `invalid_body` or `invalid_settings`. */
  unfit?: (issues: Issues, given: unknown) => ControlRefusal | undefined;
  /** Answered without the control token. */
  open?: true;
  /** Also answered from a production ledger, without a server. */
  onLedger?: true;
  /** It changes nothing that `undo` could take back. */
  undo?: 'passes';
}

/** `parts` are kept as they were written: the types of requests and answers come from them. */
export interface ControlEndpoint<P extends Parts = Parts> extends Endpoint<ControlRefusalCode> {
  status: 200 | 201;
  parts: P;
}

/** One that a production ledger answers as well. */
export type LedgerEndpoint = ControlEndpoint<Parts & { onLedger: true }>;

type Side = 'input' | 'output';
type Of<S, To extends Side> = S extends z.ZodType
  ? To extends 'input'
    ? z.input<S>
    : z.output<S>
  : undefined;
type PartsOf<E> = E extends ControlEndpoint<infer P> ? P : never;
type PathOf<P, To extends Side> = P extends { path: infer S } ? Of<S, To> : undefined;
type QueryOf<P, To extends Side> = P extends { query: infer S } ? Of<S, To> : undefined;
type BodyIn<P, To extends Side> = P extends { body: { schema: infer S } } ? Of<S, To> : undefined;
type Sent<Place extends string, T> = undefined extends T
  ? unknown
  : object extends T
    ? { [N in Place]?: T }
    : { [N in Place]: T };

/** What a caller gives. */
export type RequestOf<E> = Sent<'path', PathOf<PartsOf<E>, 'input'>> &
  Sent<'query', QueryOf<PartsOf<E>, 'input'>> &
  Sent<'body', BodyIn<PartsOf<E>, 'input'>>;

/** The body that a caller gives. */
export type BodyOf<E> = BodyIn<PartsOf<E>, 'input'>;

/** The same, read: defaults are filled in. */
export interface InputOf<E> {
  path: PathOf<PartsOf<E>, 'output'>;
  query: QueryOf<PartsOf<E>, 'output'>;
  body: BodyIn<PartsOf<E>, 'output'>;
}

export type AnswerOf<E> =
  PartsOf<E> extends { answer: { body: { schema: infer S } } } ? Of<S, 'output'> : unknown;

/** `route`: its method and its path below `/_rewards`. */
export function endpoint<const P extends Parts>(
  route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  parts: P,
): ControlEndpoint<P> {
  const { id, tag, summary, description, body, example, status = 200, answer, refusals = [] }: Parts = parts;
  const [method = '', path = ''] = route.split(' ');
  const guarded = !parts.open;
  const parameters = (['path', 'query'] as const).flatMap((place) => {
    const schema = parts[place];
    return schema ? [{ in: place, schema }] : [];
  });
  return {
    id,
    method: method.toLowerCase() as Endpoint['method'],
    path,
    tag,
    summary,
    ...(description && { description }),
    ...(guarded && { key: { scheme: 'controlToken', required: true } }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { body }),
    examples: [{ summary, ...example }],
    answers: { [status]: answer },
    refusals: [...refusals, ...(guarded ? (['token_missing'] as const) : []), 'foreign_host'],
    status,
    parts,
  };
}

/** Reads what was sent, or says what is wrong with it; a body that is not JSON is undefined. */
export function readRequest<E extends ControlEndpoint>(
  { parts }: E,
  sent: { path: unknown; query: Record<string, string>; body: unknown },
): { input: InputOf<E> } | { refusal: ControlRefusal } {
  const input: Record<string, unknown> = {};
  for (const place of ['path', 'query', 'body'] as const) {
    const schema = place === 'body' ? parts.body?.schema : parts[place];
    const given = place === 'query' ? numbered(schema, sent.query) : sent[place];
    const read = schema?.safeParse(given, { reportInput: true, error: plainly });
    if (read && !read.success) {
      const { issues } = read.error;
      return { refusal: parts.unfit?.(issues, given) ?? refusalOf(issues) };
    }
    input[place] = read?.data;
  }
  return { input: input as unknown as InputOf<E> };
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
};

/** What is said of a field whose schema says nothing of its own. */
function plainly(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  return undefined;
}

type Fields = { shape?: Record<string, z.ZodType> } | undefined;

/** A query is all text: what takes a number gets one. */
const numbered = (schema: z.ZodType | undefined, query: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const field = (schema as Fields)?.shape?.[name];
      return [name, field?.safeParse(1).success ? Number(text) : text];
    }),
  );

function refusalOf(issues: Issues): ControlRefusal {
  if (issues.some(({ path, code }) => path.length === 0 && code === 'invalid_type'))
    return { code: 'invalid_body' };
  return { code: 'invalid_settings', problems: problemsOf(issues) };
}

/** Each field that is wrong, or unknown. */
const problemsOf = (issues: Issues): SettingProblem[] =>
  issues.flatMap((issue) => {
    const named = issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'the body'];
    return named.map((setting) => ({ setting, message: issue.message }));
  });

/** Whether a body may be an answer of this endpoint, of this version or another one: it has some of its fields. */
export function isAnswerOf<E extends ControlEndpoint>(endpoint: E, body: unknown): body is AnswerOf<E> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { shape = {} } = (endpoint.parts.answer.body?.schema as Fields) ?? {};
  return Object.keys(shape).some((field) => field in body);
}
