/** Builds an OpenAPI 3.1 document from a list of operations and the zod schemas that check and describe their bodies. */
import { z } from 'zod';

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  [keyword: string]: unknown;
}

export interface Example {
  summary: string;
  value: unknown;
}

/** A request that can be sent as it stands. */
export interface RequestExample {
  summary: string;
  /** What stands in place of the path's fields. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A documented "no": when it comes, and what it looks like. */
export interface RefusalEntry {
  when: string;
  status: number;
  body: unknown;
  retryAfterSeconds?: number | undefined;
}

export interface Operation {
  id: string;
  tag: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  summary: string;
  description?: string;
  /** The key that may or must be sent. */
  key?: { scheme: string; required: boolean };
  /** Fields of the path and the query, and headers. */
  parameters?: { in: 'path' | 'query' | 'header'; schema: z.ZodType }[];
  /** Name of the body's schema. */
  body?: string;
  examples: RequestExample[];
  answers: Record<number, Answer>;
  /** Names of the refusals that may come instead. */
  refusals: readonly string[];
}

export interface Answer {
  description: string;
  /** Name of the body's schema; without one there is no JSON. */
  schema?: string;
  contentType?: string;
  example?: unknown;
  headers?: readonly string[];
}

export interface Api {
  title: string;
  version: string;
  description: string;
  /** What the paths are appended to. */
  serverUrl: string;
  tags: { name: string; description: string }[];
  operations: Operation[];
  /** By name: of requests in the form in which they are sent, and of answers. */
  schemas: Record<string, z.ZodType>;
  /** Names of the schemas that every refusal has. */
  refusalSchema: string;
  refusals: Record<string, RefusalEntry>;
  headers: Record<string, { description: string; schema: JsonSchema }>;
  /** Headers of every answer. */
  commonHeaders: readonly string[];
  securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>;
}

export type ApiDocument = ReturnType<typeof apiDocument>;

const to = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const mapped = <In, Out>(record: Record<string, In>, change: (value: In, name: string) => Out) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));

export function apiDocument(api: Api) {
  const paths: Record<string, Record<string, ReturnType<typeof operationObject>>> = {};
  for (const operation of api.operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(api, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: api.serverUrl }],
    tags: api.tags,
    paths,
    components: {
      schemas: jsonSchemas(api.schemas),
      responses: unreferenced(api),
      examples: mapped(
        api.refusals,
        ({ when, status, body }): Example => ({ summary: `${status}: ${when}`, value: body }),
      ),
      headers: api.headers,
      securitySchemes: api.securitySchemes,
    },
  };
}

function operationObject(api: Api, operation: Operation) {
  const { id, tag, summary, description, key, body, answers, examples } = operation;
  const statuses = [...new Set(operation.refusals.map((name) => refusalOf(api, name).status))];
  const keyed = key && [...(key.required ? [] : [{}]), { [key.scheme]: [] }];
  const bodies = examples.filter(({ body }) => body !== undefined);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(keyed && { security: keyed }),
    ...(operation.parameters && { parameters: operation.parameters.flatMap(parametersOf) }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: to('schemas', body),
            examples: Object.fromEntries(
              bodies.map(({ summary, body: value }, place) => [`${id}${place + 1}`, { summary, value }]),
            ),
          },
        },
      },
    }),
    responses: {
      ...mapped(answers, (answer) => answerObject(api, answer)),
      ...Object.fromEntries(
        statuses.map((status) => [
          String(status),
          refusalObject(
            api,
            operation.refusals.filter((name) => refusalOf(api, name).status === status),
          ),
        ]),
      ),
    },
    /** Whole requests, which can be sent as they stand. */
    'x-examples': examples,
  };
}

function refusalOf(api: Api, name: string): RefusalEntry {
  const entry = api.refusals[name];
  if (!entry) throw new Error(`${name} is no refusal of ${api.title}`);
  return entry;
}

const headersOf = (api: Api, more: readonly string[] = []) =>
  Object.fromEntries([...more, ...api.commonHeaders].map((name) => [name, to('headers', name)]));

function answerObject(api: Api, { description, schema, contentType, example, headers }: Answer) {
  const media = {
    ...(schema && { schema: to('schemas', schema) }),
    ...(example !== undefined && { example }),
  };
  const type = contentType ?? (schema && 'application/json');
  return {
    description,
    headers: headersOf(api, headers),
    ...(type && { content: { [type]: media } }),
  };
}

function refusalObject(api: Api, names: string[]) {
  const entries = names.map((name) => refusalOf(api, name));
  const later = entries.some(({ retryAfterSeconds }) => retryAfterSeconds !== undefined);
  return {
    description: entries.map(({ when }) => when).join('; or '),
    headers: headersOf(api, later ? ['Retry-After'] : []),
    content: {
      'application/json': {
        schema: to('schemas', api.refusalSchema),
        examples: Object.fromEntries(names.map((name) => [name, to('examples', name)])),
      },
    },
  };
}

/** Refusals that belong to no operation, such as that of an unknown path. */
function unreferenced(api: Api) {
  const used = new Set(api.operations.flatMap(({ refusals }) => refusals));
  const rest = Object.keys(api.refusals).filter((name) => !used.has(name));
  return Object.fromEntries(rest.map((name) => [name, refusalObject(api, [name])]));
}

/** The fields of an object schema as parameters. */
function parametersOf(place: { in: 'path' | 'query' | 'header'; schema: z.ZodType }) {
  const { properties = {}, required = [] } = z.toJSONSchema(place.schema, { io: 'input' }) as JsonSchema;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place.in,
    required: place.in === 'path' || required.includes(name),
    ...(description && { description }),
    schema,
  }));
}

/** Schemas in the form in which they come over the wire; those that contain each other refer to each other. */
function jsonSchemas(schemas: Record<string, z.ZodType>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/components/schemas/${id}` });
  // A document has its own places for names and dialects; and names of properties are always texts.
  return mapped(made.schemas, ({ $schema, $id, ...schema }) => withoutNoise(schema) as JsonSchema);
}

function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (typeof value !== 'object' || value === null) return value;
  const { propertyNames, ...rest } = value as Record<string, unknown>;
  return mapped(rest, withoutNoise);
}
