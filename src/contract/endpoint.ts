/** An endpoint as one value: what it is called with, what it answers, what it refuses, and examples of each. */
import { z } from 'zod';
import type { Coded, RefusalTable } from './refusals.ts';

/** A schema with the name under which the API description has it. */
export interface NamedSchema<Schema extends z.ZodType = z.ZodType> {
  name: string;
  schema: Schema;
}

/** A request that can be sent as it stands. */
export interface RequestExample {
  summary: string;
  /** Values for the path's fields. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface EndpointAnswer {
  description: string;
  /** Absent for answers without JSON. */
  body?: NamedSchema;
  contentType?: string;
  example?: unknown;
  /** Names of the headers that this answer has beside those of every answer. */
  headers?: readonly string[];
}

export interface Endpoint<Code extends string = string> {
  id: string;
  tag: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Below the host's base, fields in braces: `/relay/{hash}`. */
  path: string;
  /** The host's API prefix stands in front of the path. */
  prefixed?: boolean;
  summary: string;
  description?: string;
  /** The key that may or must be sent; `or`: another one that does as well. */
  key?: { scheme: string; or?: string; required: boolean };
  /** Fields of the path and the query, and headers. */
  parameters?: { in: 'path' | 'query' | 'header'; schema: z.ZodType }[];
  body?: NamedSchema;
  examples: RequestExample[];
  answers: Record<number, EndpointAnswer>;
  /** Codes of the refusals that may come instead. */
  refusals: readonly Code[];
}

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

/** A host with all that it offers; the OpenAPI document and the reference are made from it. */
export interface HostContract<Code extends string = string> {
  title: string;
  version: string;
  /** `bodyLimitBytes` is the host's own limit for a body. */
  description: (settings: { bodyLimitBytes: number }) => string;
  tags: { name: string; description: string }[];
  endpoints: readonly Endpoint<Code>[];
  /** The body of every refusal. */
  refusalBody: NamedSchema;
  refusals: Pick<RefusalTable<Coded & { code: Code }>, 'codes' | 'documented'>;
  headers: Record<string, { description: string; schema: JsonSchema }>;
  /** Names of the headers of every answer. */
  commonHeaders: readonly string[];
  securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>;
}

export const named = <Schema extends z.ZodType>(name: string, schema: Schema): NamedSchema<Schema> => ({
  name,
  schema,
});

/** Contract: Versioning. */
const API_VERSION = '2.0';

const text = (description: string) => ({ description, schema: { type: 'string' } });
const whole = (description: string) => ({ description, schema: { type: 'integer' } });

/** The header of refusals that may pass later. */
export const retryHeader: HostContract['headers'] = {
  'Retry-After': whole('Seconds until the same request may pass.'),
};

/** Headers that answers of any host may have. */
const hostHeaders: HostContract['headers'] = {
  'X-Request-Id': text("Id of this request, also in the emulator's log."),
  Vary: text('Names `Origin`, among others.'),
  'Access-Control-Allow-Origin': text('Origin of the page, when it may read the answer.'),
  'Access-Control-Allow-Credentials': text('`true`, together with the origin.'),
  ...retryHeader,
  'X-RateLimit-Limit': whole('How many requests are allowed within a window.'),
  'X-RateLimit-Remaining': whole('How many more are allowed within this window.'),
  'X-RateLimit-Reset': whole('When the window ends, in seconds since 1970.'),
};

/** Headers that answers have which may be kept. */
export const cacheHeaders: HostContract['headers'] = {
  ETag: text('Names this state of the answer; send it back as `If-None-Match`.'),
  'Cache-Control': text('How long the answer may be kept.'),
};

/** The headers that every answer has. */
const commonHostHeaders = [
  'X-Request-Id',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Credentials',
];

export const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

export const openApiDocument = named('Document', z.looseObject({ openapi: z.string() }));

/** The endpoints by which every host describes itself. */
const ownDescription = <Code extends string>(refusals: readonly Code[]): Endpoint<Code>[] => [
  {
    id: 'openapi',
    tag: 'Service',
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    examples: [{ summary: 'As OpenAPI 3.1' }],
    answers: { 200: { description: 'An OpenAPI document.', body: openApiDocument } },
    refusals,
  },
  {
    id: 'docs',
    tag: 'Service',
    method: 'get',
    path: '/docs',
    summary: 'This description, for people',
    examples: [{ summary: 'As a page' }],
    answers: { 200: { description: 'A self-contained page.', contentType: 'text/html' } },
    refusals,
  },
];

/** A host of the contract: what it adds to what all of them have. */
export const hostContract = <Code extends string>(
  host: Pick<HostContract<Code>, 'title' | 'tags' | 'refusalBody' | 'refusals' | 'securitySchemes'> & {
    /** Paragraphs. */
    description: (settings: { bodyLimitKb: number }) => string[];
    endpoints: readonly Endpoint<Code>[];
    /** The refusals that a request for the description may get. */
    anywhere: readonly Code[];
    /** Headers of some of its answers, beside those that any host may have. */
    moreHeaders?: HostContract['headers'];
  },
): HostContract<Code> => ({
  ...host,
  version: API_VERSION,
  description: ({ bodyLimitBytes }) => host.description({ bodyLimitKb: bodyLimitBytes / 1024 }).join('\n\n'),
  endpoints: [...host.endpoints, ...ownDescription(host.anywhere)],
  headers: { ...hostHeaders, ...host.moreHeaders },
  commonHeaders: commonHostHeaders,
});
