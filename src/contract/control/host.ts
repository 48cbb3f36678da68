/** The emulator's control host with all that it offers. */
import { type HostContract, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import type { DocumentedRefusal } from '../refusals.ts';
import { controlProblem } from './control.ts';
import { controlEndpoints } from './endpoints.ts';

const refusal = (
  status: number,
  when: string,
  said: { error: string; message: string; details?: Record<string, unknown> },
): DocumentedRefusal => ({ when, status, body: { success: false, details: {}, ...said } });

const refusals: Record<string, DocumentedRefusal> = {
  foreign_host: refusal(403, 'the request came under a foreign name, or from a page of another site', {
    error: 'Forbidden',
    message: 'The control API answers only to this machine.',
  }),
  token_missing: refusal(401, 'the control token is missing or wrong', {
    error: 'Unauthorized',
    message: 'Send `Authorization: Bearer <controlToken>` from the ready line.',
  }),
  invalid_clock_change: refusal(400, 'the body is no change that the clock can make', {
    error: 'Invalid clock change',
    message:
      'Send one of {"advance":"61s"}, {"set":"2030-01-01T00:00:00Z"}, {"freeze":true}; time moves only forward.',
  }),
  invalid_filter: refusal(400, 'the query is no filter', {
    error: 'Invalid filter',
    message: 'Use status=429 or status=4xx, method, path, user, after=<id>, limit=1..500.',
  }),
  request_not_found: refusal(404, 'no such request is in the log', {
    error: 'No request req_none',
    message: 'It is not, or no longer, in the log; `rewards requests list` shows what is.',
    details: { reason: 'request_not_found' },
  }),
  request_ambiguous: refusal(409, 'several ids begin like this', {
    error: 'req_6 may be any of 2 requests',
    message: 'Give more of the id: req_661c136a55acc3b5ccc8, req_66d01f7b12e04a9c3388',
    details: {
      reason: 'request_ambiguous',
      ids: ['req_661c136a55acc3b5ccc8', 'req_66d01f7b12e04a9c3388'],
    },
  }),
  invalid_body: refusal(400, 'the body is no JSON object', {
    error: 'Invalid body',
    message: 'Send one JSON object with the settings by name.',
  }),
  invalid_settings: refusal(400, 'a setting is unknown or has a wrong value', {
    error: 'Invalid settings',
    message: 'automation must be on or off, not "maybe"',
    details: {
      reason: 'invalid_settings',
      problems: [{ setting: 'automation', message: 'must be on or off, not "maybe"' }],
    },
  }),
  brand_not_found: refusal(404, 'there is no such brand', {
    error: 'Brand not found: nobody.example',
    message: 'Name it by its id or by one of its domains; `rewards brand list` shows all.',
    details: { reason: 'brand_not_found' },
  }),
  rule_not_found: refusal(404, 'the brand has no such rule', {
    error: `Brand ${demo.brandId} has no rule for custom_unknown`,
    message: '`rewards brand show` lists the rules it has.',
    details: { reason: 'rule_not_found' },
  }),
  brand_exists: refusal(409, 'the brand is there already', {
    error: `Brand ${demo.brandId} is there already`,
    message: 'Change it with `rewards brand set`.',
    details: { reason: 'brand_exists' },
  }),
  wallet_not_found: refusal(404, 'nobody of that name has a wallet', {
    error: 'No wallet of nobody@demo.example',
    message: 'Name an e-mail, an address or <platform>:<id>; a wallet comes with the first reward or login.',
    details: { reason: 'wallet_not_found' },
  }),
  invalid_limit: refusal(400, 'the limit is out of its bounds', {
    error: 'Invalid limit',
    message: 'Use limit=1..1000.',
  }),
  unknown_endpoint: refusal(404, 'there is no such path, or not with this method', {
    error: 'Not found',
    message: 'There is no GET /_rewards/nothing here.',
  }),
};

export const controlHostContract: HostContract = {
  title: 'Rewards: controls of the emulator',
  version: '1',
  description: () =>
    'Moves the clock of the emulator, looks back on requests, and manages brands. It is part of `rewards serve` only, and answers only to the machine that it runs on.',
  tags: [
    { name: 'Clock', description: 'The one clock that everything follows.' },
    { name: 'Requests', description: 'What was sent, and how it was decided.' },
    {
      name: 'Brands',
      description: 'Brands, their rules and keys. A brand is named by its id or by a domain.',
    },
    { name: 'Tokens', description: 'Tokens of users, as a login would give them.' },
    { name: 'Wallets', description: 'Which user has which wallet.' },
    { name: 'Money', description: 'Whether everything that was promised was paid, once.' },
    { name: 'Description', description: 'This description.' },
  ],
  endpoints: controlEndpoints,
  refusalBody: named('Refusal', controlProblem),
  refusals: {
    codes: Object.keys(refusals),
    documented(code) {
      const entry = refusals[code];
      if (!entry) throw new Error(`the control host has no refusal ${code}`);
      return entry;
    },
  },
  headers: {},
  commonHeaders: [],
  securitySchemes: {
    controlToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The `controlToken` of the ready line; needed to change anything.',
    },
  },
};
