/** How endpoints of the emulator's control host are written down. */
import type { z } from 'zod';
import type { Endpoint, EndpointAnswer, NamedSchema, RequestExample } from '../endpoint.ts';
import type { ControlRefusalCode } from './refusals.ts';

/** What most endpoints of this host have in common. */
export function endpoint(
  [method, path, id, tag, summary]: [Endpoint['method'], string, string, string, string],
  parts: {
    description?: string;
    path?: z.ZodType;
    query?: z.ZodType;
    body?: NamedSchema;
    example?: Omit<RequestExample, 'summary'>;
    status?: number;
    answer: EndpointAnswer;
    refusals?: ControlRefusalCode[];
  },
): Endpoint<ControlRefusalCode> {
  const { description, body, example, status = 200, answer, refusals = [] } = parts;
  const guarded = tag !== 'Description';
  const parameters = (['path', 'query'] as const).flatMap((place) => {
    const schema = parts[place];
    return schema ? [{ in: place, schema }] : [];
  });
  return {
    ...{ id, method, path, tag, summary },
    ...(description && { description }),
    ...(guarded && { key: { scheme: 'controlToken', required: true } }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { body }),
    examples: [{ summary, ...example }],
    answers: { [status]: answer },
    refusals: [...refusals, ...(guarded ? (['token_missing'] as const) : []), 'foreign_host'],
  };
}
