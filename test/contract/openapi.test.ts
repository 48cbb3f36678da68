/** The API's descriptions: valid, complete, and true to the schemas that they are made from. */

import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { controlHostContract } from '../../src/contract/control/host.ts';
import { eventsHostContract } from '../../src/contract/events/host.ts';
import { demo } from '../../src/contract/examples.ts';
import { registerHostContract } from '../../src/contract/register/host.ts';
import { relayHostContract } from '../../src/contract/relay/host.ts';
import { servicesHostContract } from '../../src/contract/services/host.ts';
import { createControlHost } from '../../src/http/control/host.ts';
import { createEventsHost } from '../../src/http/events/host.ts';
import { type ApiDocument, apiDocument } from '../../src/http/openapi.ts';
import { referencePage } from '../../src/http/reference/reference-page.ts';
import { createRegisterHost } from '../../src/http/register.ts';
import { createRelayHost } from '../../src/http/relay.ts';
import { createServicesHost } from '../../src/http/services/host.ts';
import { EMAIL_PATTERN } from '../../src/rules/user-key.ts';
import { operationsOf, validatorOf } from './api-description.ts';

const settings = { apiPrefix: '/rewards-api', bodyLimitBytes: 10_240, ownDomain: 'x', workerVersion: '1' };
const events = apiDocument(eventsHostContract, { serverUrl: '/', ...settings });
const register = apiDocument(registerHostContract, { serverUrl: '/', ...settings });
const services = apiDocument(servicesHostContract, { serverUrl: '/', ...settings, apiPrefix: '' });
const relay = apiDocument(relayHostContract, { serverUrl: '/', apiPrefix: '', bodyLimitBytes: 65_536 });
const control = apiDocument(controlHostContract, { ...settings, serverUrl: '/_rewards' });

/** What a host answers to. Nothing is called: the routes are only counted. */
const routesOf = (app: { routes: { method: string; path: string }[] }) =>
  app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
const eventsRoutes = () =>
  routesOf(
    createEventsHost({ refuser: {}, settings: { ...settings, httpsOnly: false } } as Parameters<
      typeof createEventsHost
    >[0]),
  );
const registerRoutes = () =>
  routesOf(
    createRegisterHost({ refuser: {}, settings: { ...settings, httpsOnly: false } } as unknown as Parameters<
      typeof createRegisterHost
    >[0]),
  );
const servicesRoutes = () =>
  routesOf(
    createServicesHost({
      refuser: {},
      settings: { ...settings, apiPrefix: '', httpsOnly: false },
    } as unknown as Parameters<typeof createServicesHost>[0]),
  );
const relayRoutes = () =>
  routesOf(
    createRelayHost({
      refuser: {},
      settings: { ...settings, apiPrefix: '', httpsOnly: false },
    } as unknown as Parameters<typeof createRelayHost>[0]),
  );
const controlRoutes = () =>
  routesOf(
    createControlHost({ token: 'token', control: {}, brands: {}, tokens: {}, wallets: {} } as Parameters<
      typeof createControlHost
    >[0]),
  );
const described = (api: ApiDocument) =>
  operationsOf(api).map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`);

/** It compiles the schema of OpenAPI once. */
const openApi = new Validator();

describe.each([
  { name: 'events', api: events, routes: eventsRoutes },
  { name: 'register', api: register, routes: registerRoutes },
  { name: 'services', api: services, routes: servicesRoutes },
  { name: 'relay', api: relay, routes: relayRoutes },
  { name: 'control', api: control, routes: controlRoutes },
])('the description of the $name host', ({ api, routes }) => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await openApi.validate(structuredClone(api));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(api.openapi).toMatch(/^3\.1\.\d$/);
  });

  test('has every route of the host, and no other', () => {
    expect([...new Set(described(api))].sort()).toEqual([...new Set(routes())].sort());
  });

  test('names each operation once, under a tag that is described', () => {
    const operations = operationsOf(api).map(({ operation }) => operation);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = api.tags.map(({ name }) => name);
    expect(operations.flatMap((one) => one.tags).filter((tag) => !tags.includes(tag))).toEqual([]);
  });

  test('has no reference to nothing, and no schema that nothing refers to', () => {
    const text = JSON.stringify(api);
    const references = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)];
    const places = api.components as Record<string, Record<string, unknown>>;
    for (const [, kind = '', name = ''] of references)
      expect(places[kind]?.[name], `${kind}/${name}`).toBeDefined();
    const named = references.map(([, , name]) => name);
    const { schemas, responses, examples, headers } = api.components;
    for (const components of [schemas, responses, examples, headers])
      expect(Object.keys(components).filter((name) => !named.includes(name))).toEqual([]);
  });

  test('has examples that fit their schemas', () => {
    const check = validatorOf(api);
    let checked = 0;
    const fits = (schema: object | undefined, value: unknown, where: string) => {
      checked += 1;
      expect(check(schema ?? {}, value), where).toEqual([]);
    };
    for (const { operation } of operationsOf(api)) {
      const { operationId } = operation;
      const body = operation.requestBody?.content['application/json'];
      for (const { value } of Object.values(body?.examples ?? {})) fits(body?.schema, value, operationId);
      for (const [status, response] of Object.entries(operation.responses)) {
        for (const media of Object.values(response.content ?? {})) {
          if ('example' in media) fits(media.schema, media.example, `${operationId} ${status}`);
        }
      }
    }
    for (const [code, { value }] of Object.entries(api.components.examples)) {
      fits({ $ref: '#/components/schemas/Refusal' }, value, code);
    }
    expect(checked).toBeGreaterThan(12);
  });

  test('gives a summary to every operation and an example to every request', () => {
    for (const { operation } of operationsOf(api)) {
      expect(operation.summary.length).toBeGreaterThan(5);
      expect(operation['x-examples'].length).toBeGreaterThan(0);
      const required = (operation.parameters ?? []).filter((one) => one.required && one.in === 'query');
      for (const example of operation['x-examples']) {
        expect(Object.keys(example.query ?? {})).toEqual(
          expect.arrayContaining(required.map(({ name }) => name)),
        );
      }
    }
  });
});

test.each([
  { name: 'event', api: events, codes: eventsHostContract.refusals.codes },
  { name: 'register', api: register, codes: registerHostContract.refusals.codes },
  { name: 'services', api: services, codes: servicesHostContract.refusals.codes },
  { name: 'relay', api: relay, codes: relayHostContract.refusals.codes },
])('every refusal of the $name host is in its description, with its own status', ({ api, codes }) => {
  expect(Object.keys(api.components.examples)).toEqual(codes);
  const shown = operationsOf(api).flatMap(({ operation }) =>
    Object.entries(operation.responses).flatMap(([status, { content }]) =>
      Object.values(content ?? {}).flatMap((media) =>
        'examples' in media ? Object.keys(media.examples).map((code) => [code, status]) : [],
      ),
    ),
  );
  const nowhere = codes.filter((code) => !shown.some(([one]) => one === code));
  expect(nowhere).toEqual(['unknown_endpoint', 'method_not_allowed']);
  expect(Object.keys(api.components.responses)).toEqual(nowhere);
  for (const [code = '', status] of shown) {
    expect(api.components.examples[code]?.summary.startsWith(`${status}: `)).toBe(true);
  }
});

describe('limits of the contract are in the description', () => {
  const { schemas } = events.components;
  const { properties = {}, required } = schemas.EventByEmail ?? {};
  test.each([
    ['brandId', { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }],
    ['eventType', { type: 'string', maxLength: 50, pattern: '^[A-Za-z0-9_]+$' }],
    ['userEmail', { maxLength: 254 }],
    ['domain', { maxLength: 253 }],
    ['sourceUrl', { maxLength: 2048 }],
  ])('Event submission: %s', (field, limits) => {
    expect(properties[field]).toMatchObject(limits);
  });
  test('Event submission: required fields', () => {
    expect(required).toEqual(['brandId', 'eventType', 'userEmail']);
    const other = schemas.EventByIdentifier;
    expect(other?.required).toEqual(['brandId', 'eventType', 'userIdentifier']);
    expect(Object.keys(other?.properties ?? {}).sort()).toEqual(Object.keys(properties).sort());
    expect(schemas.EventSubmission?.anyOf).toEqual([
      { $ref: '#/components/schemas/EventByEmail' },
      { $ref: '#/components/schemas/EventByIdentifier' },
    ]);
  });
  test('bulk-events', () => {
    expect(events.components.schemas.BulkEvents?.properties?.events).toMatchObject({
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: { $ref: '#/components/schemas/EventSubmission' },
    });
  });
  test('headers of answers', () => {
    const answer = (path: string, method: string, status: string) =>
      Object.keys(events.paths[path]?.[method]?.responses[status]?.headers ?? {});
    expect(answer('/rewards-api/manual-event', 'post', '429')).toContain('Retry-After');
    expect(answer('/rewards-api/event-config', 'get', '200')).toEqual(
      expect.arrayContaining([
        'ETag',
        'Cache-Control',
        'X-Request-Id',
        'Vary',
        'Access-Control-Allow-Origin',
      ]),
    );
  });
});

describe('the reference page', () => {
  test.each([
    ['events', events],
    ['register', register],
  ])('of the %s host says what an e-mail address is once, and shows no pattern of it', (_, api) => {
    const page = referencePage(api);
    expect(page.includes('>e-mail address</a>')).toBe(true);
    expect(page.match(/href="#taken-e-mail-address"/g)?.length).toBeGreaterThan(0);
    expect(page.match(/id="taken-e-mail-address"/g)).toHaveLength(1);
    expect(page.includes(escapedPattern)).toBe(false);
  });
  const escapedPattern = EMAIL_PATTERN.slice(0, 30).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

  test('shows the fields and words of schemas that have a name', () => {
    const page = referencePage(events);
    const fields = ['metadata.order_total', 'userIdentifier.platformUserId', 'results[].details.span'];
    expect(fields.filter((field) => !page.includes(`<code>${field}</code>`))).toEqual([]);
    expect(page.match(/Free-form facts about the event/g)?.length).toBeGreaterThan(0);
    expect(page.includes('int64')).toBe(false);
    const boards = referencePage(services);
    expect(boards.includes('&#34;rwt_earned&#34; or &#34;activity&#34;')).toBe(true);
    expect(boards.includes('taken-e-mail-address')).toBe(false);
  });
});

test('examples speak of the packaged demo', async () => {
  const { brands, users } = parse(
    await readFile(new URL('../../fixtures/demo.yaml', import.meta.url), 'utf8'),
  );
  expect(demo.brandId).toBe(brands[0].brandId);
  expect(brands[0].domains).toContain(demo.domain);
  expect(users.map(({ email }: { email: string }) => email)).toContain(demo.user);
});
