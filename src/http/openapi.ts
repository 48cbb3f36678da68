/** The OpenAPI 3.1 document of a host: a fold over its contract. */
import { z } from 'zod';
import type {
  Endpoint,
  EndpointAnswer,
  HostContract,
  JsonSchema,
  NamedSchema,
} from '../contract/endpoint.ts';
import type { DocumentedRefusal } from '../contract/refusals.ts';

/** What differs from one running host to the next. */
export interface DescribedHost {
  /** What the paths are appended to; `/` for a document that the service itself serves. */
  serverUrl: string;
  /** Stands in front of the paths that have it. */
  apiPrefix: string;
  bodyLimitBytes: number;
}

interface Api extends HostContract, DescribedHost {}

interface Example {
  summary: string;
  value: unknown;
}

export type ApiDocument = ReturnType<typeof apiDocument>;

const to = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const mapped = <In, Out>(record: Record<string, In>, change: (value: In, name: string) => Out) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));

export function apiDocument(contract: HostContract, host: DescribedHost) {
  const api: Api = { ...contract, ...host };
  const paths: Record<string, Record<string, ReturnType<typeof operationObject>>> = {};
  const schemas = jsonSchemas(api);
  for (const endpoint of api.endpoints) {
    const path = pathOf(endpoint, host.apiPrefix);
    paths[path] = { ...paths[path], [endpoint.method]: operationObject(api, endpoint, schemas.parameters) };
  }
  const otherwise = unreferenced(api);
  const document = {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: contract.description(host),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: api.serverUrl }],
    tags: api.tags,
    paths,
    components: {
      schemas: schemas.components,
      responses: otherwise,
      examples: Object.fromEntries(
        api.refusals.codes.map((code): [string, Example] => {
          const { when, status, body } = api.refusals.documented(code);
          return [code, { summary: `${status}: ${when}`, value: body }];
        }),
      ),
      headers: api.headers,
      securitySchemes: api.securitySchemes,
    },
    /** Answers to requests that belong to no operation. */
    'x-other-requests': mapped(otherwise, (_, code) => to('responses', code)),
  };
  const used = new Set(JSON.stringify(document).match(/(?<="#\/components\/headers\/)[^"]+/g));
  const headers = Object.entries(api.headers).filter(([name]) => used.has(name));
  return { ...document, components: { ...document.components, headers: Object.fromEntries(headers) } };
}

/** An endpoint's path below the host's base. */
export const pathOf = ({ path, prefixed }: Pick<Endpoint, 'path' | 'prefixed'>, apiPrefix: string) =>
  prefixed ? `${apiPrefix}${path}` : path;

/** Every schema that the endpoints name, once. */
function schemasOf({ endpoints, refusalBody }: HostContract): NamedSchema[] {
  const named = endpoints.flatMap(({ body, answers }) => [
    ...(body ? [body] : []),
    ...Object.values(answers).flatMap((answer) => answer.body ?? []),
  ]);
  return [...named, refusalBody];
}

function operationObject(api: Api, operation: Endpoint, parametersOf: JsonSchemas['parameters']) {
  const { id, tag, summary, description, key, body, answers, examples } = operation;
  const statuses = [...new Set(operation.refusals.map((name) => api.refusals.documented(name).status))];
  const keyed = key && [
    ...(key.required ? [] : [{}]),
    { [key.scheme]: [] },
    ...(key.or === undefined ? [] : [{ [key.or]: [] }]),
  ];
  const bodies = examples.filter(({ body }) => body !== undefined);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(keyed && { security: keyed }),
    ...(operation.parameters && { parameters: operation.parameters.flatMap(parameterObjects(parametersOf)) }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: to('schemas', body.name),
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
            operation.refusals.filter((name) => api.refusals.documented(name).status === status),
          ),
        ]),
      ),
    },
    /** Whole requests, which can be sent as they stand. */
    'x-examples': examples,
  };
}

const headersOf = (api: Api, more: readonly string[] = []) =>
  Object.fromEntries([...more, ...api.commonHeaders].map((name) => [name, to('headers', name)]));

function answerObject(api: Api, { description, body, contentType, example, headers }: EndpointAnswer) {
  const schema = body ? to('schemas', body.name) : contentType?.startsWith('text/') && { type: 'string' };
  const media = {
    ...(schema && { schema }),
    ...(example !== undefined && { example }),
  };
  const type = contentType ?? (body && 'application/json');
  return {
    description,
    headers: headersOf(api, headers),
    ...(type && { content: { [type]: media } }),
  };
}

function refusalObject(api: Api, names: string[]) {
  const entries = names.map((name): DocumentedRefusal => api.refusals.documented(name));
  const later = entries.some(({ retryAfterSeconds }) => retryAfterSeconds !== undefined);
  return {
    description: entries.map(({ when }) => when).join('; or '),
    headers: headersOf(api, later ? ['Retry-After'] : []),
    content: {
      'application/json': {
        schema: to('schemas', api.refusalBody.name),
        examples: Object.fromEntries(names.map((name) => [name, to('examples', name)])),
      },
    },
  };
}

/** Refusals that belong to no operation, such as that of an unknown path. */
function unreferenced(api: Api) {
  const used = new Set(api.endpoints.flatMap(({ refusals }) => refusals));
  const rest = api.refusals.codes.filter((name) => !used.has(name));
  return Object.fromEntries(rest.map((name) => [name, refusalObject(api, [name])]));
}

/** The fields of an object schema as parameters. */
const parameterObjects =
  (parametersOf: JsonSchemas['parameters']) =>
  (place: { in: 'path' | 'query' | 'header'; schema: z.ZodType }) => {
    const { properties = {}, required = [] } = parametersOf(place.schema);
    return Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: place.in,
      required: place.in === 'path' || required.includes(name),
      ...(description && { description }),
      schema: inText(schema),
    }));
  };

/**
 * A schema as paths, queries and headers have it, where all is text: nothing is null there, what may be a text is one,
 * and true and false need no second spelling.
 */
function inText({ anyOf, ...schema }: JsonSchema): JsonSchema {
  if (Array.isArray(schema.type)) {
    const [type, ...others] = schema.type.filter((one) => one !== 'null');
    return others.length === 0 && type !== undefined ? { ...schema, type } : schema;
  }
  if (!anyOf) return schema;
  const one =
    anyOf.find(({ type, pattern }) => type === 'string' && pattern === undefined) ??
    anyOf.find(({ type }) => type === 'boolean');
  return one ? { ...schema, ...one } : { ...schema, anyOf };
}

interface JsonSchemas {
  /** Every schema with a name: those of bodies, and those inside them that have an `id`. */
  components: Record<string, JsonSchema>;
  /** The object of an endpoint's parameters. */
  parameters: (schema: z.ZodType) => JsonSchema;
}

/** Schemas in the form in which they come over the wire; those with a name stand once, and all others refer to them. */
function jsonSchemas(api: HostContract): JsonSchemas {
  const registry = z.registry<{ id: string }>();
  for (const { name, schema } of schemasOf(api)) registry.add(schema, { id: name });
  const places = api.endpoints.flatMap(({ parameters = [] }) => parameters);
  places.forEach(({ schema }, place) => {
    if (!registry.has(schema)) registry.add(schema, { id: `${PARAMETERS}${place}` });
  });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => `${COMPONENTS}${id}`,
    override: ({ jsonSchema }) => sizeOf(jsonSchema as JsonSchema),
  });
  const { [SHARED]: shared, ...made } = schemas;
  const all = { ...made, ...(shared?.$defs as typeof made | undefined) };
  // A document has its own places for names and dialects; and names of properties are always texts.
  const clean = mapped(all, ({ $schema, $id, ...schema }) => withoutNoise(schema) as JsonSchema);
  return {
    components: Object.fromEntries(Object.entries(clean).filter(([name]) => !name.startsWith(PARAMETERS))),
    parameters: (schema) => clean[registry.get(schema)?.id ?? ''] ?? {},
  };
}

const COMPONENTS = '#/components/schemas/';
/** Where zod puts schemas that have an `id` of their own. */
const SHARED = '__shared';
/** Begins the names under which parameters are kept meanwhile. */
const PARAMETERS = 'parameters of ';

/** Whole numbers beyond 32 bits say so: clients in other languages would cut them off. */
function sizeOf(schema: JsonSchema): void {
  const { type, maximum } = schema;
  if (type === 'integer' && typeof maximum === 'number' && maximum > 2 ** 31 - 1) schema.format = 'int64';
}

function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (typeof value === 'string') return value.replace(`${COMPONENTS}${SHARED}#/$defs/`, COMPONENTS);
  if (typeof value !== 'object' || value === null) return value;
  const { propertyNames, ...rest } = value as Record<string, unknown>;
  return mapped(rest, withoutNoise);
}
