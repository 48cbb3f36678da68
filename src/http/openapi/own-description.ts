/** What every host says about itself. */
import { z } from 'zod';
import type { Api, Operation } from './document.ts';

export const descriptionSchema = z.looseObject({ openapi: z.string() });

/** `schema` is the name under which the document has `descriptionSchema`. */
export const ownDescription = (schema: string, refusals: readonly string[]): Operation[] => [
  {
    id: 'openapi',
    tag: 'Service',
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    examples: [{ summary: 'As OpenAPI 3.1' }],
    answers: { 200: { description: 'An OpenAPI document.', schema } },
    refusals,
  },
  {
    id: 'docs',
    tag: 'Service',
    method: 'get',
    path: '/docs',
    summary: 'This description, for people',
    examples: [{ summary: 'As a page' }],
    answers: { 200: { description: 'A page that needs nothing from elsewhere.', contentType: 'text/html' } },
    refusals,
  },
];

const text = (description: string) => ({ description, schema: { type: 'string' } });
const whole = (description: string) => ({ description, schema: { type: 'integer' } });

/** Headers that answers of any host may have. */
export const hostHeaders: Api['headers'] = {
  'X-Request-Id': text('Names this request, in the log of the emulator too.'),
  Vary: text('Names `Origin`, among others.'),
  'Access-Control-Allow-Origin': text('Origin of the page, when it may read the answer.'),
  'Access-Control-Allow-Credentials': text('`true`, together with the origin.'),
  'Retry-After': whole('Seconds until the same request may pass.'),
  'X-RateLimit-Limit': whole('How many pass within a window.'),
  'X-RateLimit-Remaining': whole('How many more pass within this one.'),
  'X-RateLimit-Reset': whole('When the window ends, in seconds since 1970.'),
};

/** Those of them that every answer has. */
export const commonHostHeaders = [
  'X-Request-Id',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Credentials',
];
