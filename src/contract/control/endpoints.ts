/** The endpoints of the emulator's control host. Paths are below `/_rewards`. */
import { z } from 'zod';
import {
  type Endpoint,
  type EndpointAnswer,
  type NamedSchema,
  named,
  openApiDocument,
  type RequestExample,
} from '../endpoint.ts';
import { demo } from '../examples.ts';
import * as control from './control.ts';
import type { ControlRefusalCode } from './refusals.ts';

const token = { scheme: 'controlToken', required: true };
const brandPath = z.object({ name: z.string().meta({ description: 'Id or domain of the brand.' }) });
const rulePath = brandPath.extend({ eventType: z.string() });
const name = demo.domain;

/** What most operations of this host have in common. */
function operation(
  [method, path, id]: [Endpoint['method'], string, string],
  said: { tag: string; summary: string; description?: string },
  parts: {
    path?: z.ZodType;
    query?: z.ZodType;
    body?: NamedSchema;
    example: Omit<RequestExample, 'summary'>;
    answer: EndpointAnswer & { status?: number };
    refusals: ControlRefusalCode[];
    guarded?: boolean;
  },
): Endpoint<ControlRefusalCode> {
  const { body, example, refusals, guarded = method !== 'get' } = parts;
  const { status = 200, ...answer } = parts.answer;
  const parameters = [
    ...(parts.path ? [{ in: 'path' as const, schema: parts.path }] : []),
    ...(parts.query ? [{ in: 'query' as const, schema: parts.query }] : []),
  ];
  return {
    id,
    method,
    path,
    ...said,
    ...(guarded && { key: token }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { body }),
    examples: [{ summary: said.summary, ...example }],
    answers: { [status]: answer },
    refusals: [...refusals, ...(guarded ? (['token_missing'] as const) : []), 'foreign_host'],
  };
}

export const controlEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  operation(
    ['get', '/clock', 'showClock'],
    { tag: 'Clock', summary: 'Read the clock' },
    {
      example: {},
      answer: { description: 'The time.', body: named('Clock', control.clockResult) },
      refusals: [],
    },
  ),
  operation(
    ['post', '/clock', 'moveClock'],
    {
      tag: 'Clock',
      summary: 'Move, stop or start the clock',
      description: 'Answers when the chain follows and what became due is under way.',
    },
    {
      body: named('ClockChange', control.clockChange),
      example: { body: { advance: '61s' } },
      answer: { description: 'The new time.', body: named('Clock', control.clockResult) },
      refusals: ['invalid_clock_change'],
    },
  ),
  operation(
    ['get', '/requests', 'listRequests'],
    { tag: 'Requests', summary: 'The last requests, newest first' },
    {
      query: control.requestsQuery,
      example: { query: { status: '4xx', limit: '10' } },
      answer: { description: 'One line for each.', body: named('RequestList', control.requestList) },
      refusals: ['invalid_filter'],
    },
  ),
  operation(
    ['get', '/requests/{id}', 'showRequest'],
    { tag: 'Requests', summary: 'One request with both bodies, and why it was decided as it was' },
    {
      path: z.object({
        id: z.string().meta({ description: 'As in X-Request-Id; its beginning will do.' }),
      }),
      example: { path: { id: 'req_661c136a55acc3b5ccc8' } },
      answer: { description: 'The request.', body: named('RequestDetail', control.requestDetail) },
      refusals: ['request_not_found', 'request_ambiguous'],
    },
  ),
  operation(
    ['get', '/brands', 'listBrands'],
    { tag: 'Brands', summary: 'All brands' },
    {
      example: {},
      answer: { description: 'The brands.', body: named('BrandList', control.brandList) },
      refusals: [],
    },
  ),
  operation(
    ['post', '/brands', 'createBrand'],
    { tag: 'Brands', summary: 'Make a brand' },
    {
      body: named('NewBrandSettings', control.newBrandSettings),
      example: {
        body: {
          brandId: '0x00000000000000000000000000000000000000b2',
          name: 'Second',
          domains: 'second.example',
          escrow: 1000,
        },
      },
      answer: {
        status: 201,
        description: 'The brand, with its first key.',
        body: named('NewBrand', control.newBrand),
      },
      refusals: ['invalid_body', 'invalid_settings', 'brand_exists'],
    },
  ),
  operation(
    ['get', '/brands/{name}', 'showBrand'],
    { tag: 'Brands', summary: 'One brand with its rules and keys' },
    {
      path: brandPath,
      example: { path: { name } },
      answer: { description: 'The brand.', body: named('Brand', control.brandDetail) },
      refusals: ['brand_not_found'],
    },
  ),
  operation(
    ['patch', '/brands/{name}', 'setBrand'],
    { tag: 'Brands', summary: 'Change settings of a brand' },
    {
      path: brandPath,
      body: named('BrandSettings', control.brandSettings),
      example: { path: { name }, body: { automation: 'on' } },
      answer: { description: 'The brand as it is now.', body: named('Brand', control.brandDetail) },
      refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
    },
  ),
  operation(
    ['patch', '/brands/{name}/rules/{eventType}', 'setRule'],
    { tag: 'Brands', summary: 'Change or make the rule of an event' },
    {
      path: rulePath,
      body: named('RuleSettings', control.ruleSettings),
      example: { path: { name, eventType: 'custom_visit' }, body: { reward: 5, cooldown: '1h' } },
      answer: { description: 'The rule as it is now.', body: named('Rule', control.ruleResult) },
      refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
    },
  ),
  operation(
    ['delete', '/brands/{name}/rules/{eventType}', 'removeRule'],
    { tag: 'Brands', summary: 'Remove the rule of an event' },
    {
      path: rulePath,
      example: { path: { name, eventType: 'custom_visit' } },
      answer: { description: 'It is gone.', body: named('RuleRemoved', control.ruleRemoved) },
      refusals: ['brand_not_found', 'rule_not_found'],
    },
  ),
  operation(
    ['post', '/brands/{name}/keys', 'rotateKey'],
    { tag: 'Brands', summary: 'Make a new key' },
    {
      path: brandPath,
      body: named('KeyRotation', control.keyRotation),
      example: { path: { name }, body: { overlap: '24h' } },
      answer: {
        status: 201,
        description: 'The key, shown this once.',
        body: named('NewKey', control.newKey),
      },
      refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
    },
  ),
  operation(
    ['get', '/brands/{name}/dns', 'brandDns'],
    { tag: 'Brands', summary: 'The DNS record that links a domain to the brand' },
    {
      path: brandPath,
      query: control.dnsQuery,
      example: { path: { name }, query: { domain: name } },
      answer: { description: 'The record.', body: named('DnsRecord', control.dnsRecord) },
      refusals: ['invalid_settings', 'brand_not_found'],
      guarded: true,
    },
  ),
  operation(
    ['post', '/tokens', 'issueToken'],
    { tag: 'Tokens', summary: 'A token for a user' },
    {
      body: named('TokenWish', control.tokenWish),
      example: { body: { user: 'alice@demo.example', expires: '1h' } },
      answer: { status: 201, description: 'The token.', body: named('Token', control.tokenResult) },
      refusals: ['invalid_body', 'invalid_settings'],
    },
  ),
  operation(
    ['post', '/tokens/verify', 'verifyToken'],
    { tag: 'Tokens', summary: 'Whether a token is taken, and why not' },
    {
      body: named('TokenCheck', control.tokenCheck),
      example: { body: { token: 'e30.e30.c2lnbmF0dXJl' } },
      answer: {
        description: 'What the relay would say of it.',
        body: named('TokenVerdict', control.tokenVerdict),
      },
      refusals: ['invalid_body', 'invalid_settings'],
    },
  ),
  operation(
    ['post', '/tokens/rotate-keys', 'rotateTokenKeys'],
    { tag: 'Tokens', summary: 'Sign with a new key' },
    {
      body: named('KeysRotation', control.keysRotation),
      example: { body: { revoke: false } },
      answer: {
        description: 'The keys that are published now.',
        body: named('PublishedKeys', control.publishedKeys),
      },
      refusals: ['invalid_body', 'invalid_settings'],
    },
  ),
  operation(
    ['get', '/wallets/{user}', 'showWallet'],
    { tag: 'Wallets', summary: 'Which wallet a user has' },
    {
      path: z.object({
        user: z.string().meta({ description: 'An e-mail, an address, or `<platform>:<id there>`.' }),
      }),
      example: { path: { user: demo.user } },
      answer: {
        description: 'The wallet, and as whom the user was registered.',
        body: named('Wallet', control.walletResult),
      },
      refusals: ['wallet_not_found'],
    },
  ),
  operation(
    ['get', '/verify', 'verify'],
    { tag: 'Money', summary: 'Compare ledger and chain' },
    {
      query: control.verifyQuery,
      example: {},
      answer: { description: '`ok` when they agree.', body: named('VerifyReport', control.verifyResult) },
      refusals: ['invalid_limit'],
    },
  ),
  operation(
    ['get', '/openapi.json', 'controlOpenapi'],
    { tag: 'Description', summary: 'As OpenAPI 3.1' },
    { example: {}, answer: { description: 'An OpenAPI document.', body: openApiDocument }, refusals: [] },
  ),
  operation(
    ['get', '/docs', 'controlDocs'],
    { tag: 'Description', summary: 'As a page' },
    {
      example: {},
      answer: { description: 'A page that needs nothing from elsewhere.', contentType: 'text/html' },
      refusals: [],
    },
  ),
];

/** What brands, their rules and keys are managed by, with a server before it or without one. */
export const brandEndpoints = controlEndpoints.filter(({ tag }) => tag === 'Brands');
