/** Values that the served descriptions and the service judge alike: what one takes, the other takes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/http/openapi.ts';
import { type RelayKit, startRelayKit } from '../kits/chain/wallet.ts';
import { operationsOf, validatorOf } from './api-description.ts';

let service: RelayKit;
const apis = {} as Record<'events' | 'relay' | 'register' | 'control', ApiDocument>;
beforeAll(async () => {
  service = await startRelayKit();
  for (const host of ['relay', 'register'] as const)
    apis[host] = (await service.request(`/openapi/${host}.json`)).body;
  apis.events = (await service.request('/openapi.json')).body;
  apis.control = (await service.request(`${service.ready.urls.control}/openapi.json`)).body;
});
afterAll(() => service?.stop());

const operationOf = (api: ApiDocument, operationId: string) => {
  const described = operationsOf(api).find(({ operation }) => operation.operationId === operationId);
  if (!described) throw new Error(`there is no ${operationId}`);
  return described.operation;
};

/** What the description finds wrong with a body of this operation. */
function problemsOf(api: ApiDocument, operationId: string, body: unknown): string[] {
  const schema = operationOf(api, operationId).requestBody?.content['application/json']?.schema;
  if (!schema) throw new Error(`${operationId} takes no body`);
  return validatorOf(api)(schema, body);
}

const EMAILS: [unknown, boolean][] = [
  ['ann@people.example', true],
  ['  Ann.Other+tag@People.Example ', true],
  ['"ann@home"@people.example', true],
  ['ann@bücher.example', true],
  ['ann@localhost', true],
  ['ann', false],
  ['ann@', false],
  ['@people.example', false],
  ['ann@@people.example', false],
  ['ann other@people.example', false],
  ['Ann <ann@people.example>', false],
  ['.ann@people.example', false],
  ['ann..other@people.example', false],
  ['ann@people.example/path', false],
  ['ann@people example', false],
  [`${'a'.repeat(250)}@people.example`, false],
  [17, false],
  [{}, false],
];
/** Callers of their own, since one address has few new wallets. */
let callers = 0;
const fromElsewhere = () => ({ 'x-forwarded-for': `10.9.0.${++callers}` });

describe('an e-mail', () => {
  test.each(EMAILS)('of an event: %j: %j', async (userEmail, taken) => {
    const { brandId, domain } = service.brand;
    const body = { brandId, domain, eventType: 'account_creation', userEmail };
    expect(problemsOf(apis.events, 'manualEvent', body).length === 0).toBe(taken);
    const { status } = await service.post('/rewards-api/manual-event', body, fromElsewhere());
    expect(status === 400).toBe(!taken);
  });

  test.each(EMAILS)('of a question for a balance: %j: %j', async (userEmail, taken) => {
    const body = { brandId: service.brand.brandId, userEmail };
    expect(problemsOf(apis.events, 'userBalanceByBody', body).length === 0).toBe(taken);
    const { status } = await service.post('/rewards-api/user-balance', body, fromElsewhere());
    expect(status === 400).toBe(!taken);
  });

  test.each(EMAILS)('of a wallet made beforehand: %j: %j', async (email, taken) => {
    const body = { brand_id: service.brand.brandId, email };
    expect(problemsOf(apis.register, 'pregenerateUser', body).length === 0).toBe(taken);
    const path = `${service.ready.urls.register}/rewards-api/pregenerate-user`;
    const { status } = await service.post(path, body, fromElsewhere());
    expect(status === 400).toBe(!taken);
  });
});

describe('a relayed call', () => {
  test.each<[unknown, boolean]>([
    [27, true],
    [28, true],
    [0, true],
    [1, true],
    ['27', true],
    ['028', true],
    ['0', true],
    ['0x1b', true],
    ['0x1C', true],
    ['0x1', true],
    [2, false],
    [27.5, false],
    [-1, false],
    ['', false],
    ['29', false],
    ['0x1d', false],
    ['27 ', false],
    ['1b', false],
    [null, false],
    [true, false],
  ])('v of its permit: %j: %j', async (v, taken) => {
    const { alice } = service.users;
    const permit = { ...(await service.permit(alice)), v };
    const body = { ...service.purchase(alice.address), userAddress: alice.address, permit };
    expect(problemsOf(apis.relay, 'relay', body).length === 0).toBe(taken);
    const answer = await service.relay(alice, body);
    expect(answer.body.code === 'INVALID_FIELDS').toBe(!taken);
    expect(answer.status).not.toBe(401);
  });

  test.each<[string, boolean]>([
    [`0x${'aB'.repeat(32)}`, true],
    [`0X${'ab'.repeat(32)}`, false],
    ['ab'.repeat(32), false],
    [`0x${'ab'.repeat(31)}`, false],
    [`0x${'ag'.repeat(32)}`, false],
  ])('its hash: %j: %j', async (hash, taken) => {
    const [parameter] = operationOf(apis.relay, 'relayStatus').parameters ?? [];
    expect(validatorOf(apis.relay)(parameter?.schema ?? {}, hash).length === 0).toBe(taken);
    const { body } = await service.request(`${service.ready.urls.relay}/relay/${hash}`, {
      headers: fromElsewhere(),
    });
    expect(body.code).toBe(taken ? 'NOT_FOUND' : 'INVALID_HASH');
  });
});

// Last, since tokens do not live that long.
describe('a change of the clock', () => {
  test.each<[unknown, boolean]>([
    [{ advance: '61s' }, true],
    [{ advance: '1h30m' }, true],
    [{ advance: 0 }, true],
    [{ advance: 1500 }, true],
    [{ set: '2090-01-01T00:00:00Z' }, true],
    [{ set: Date.UTC(2091, 0, 1) }, true],
    [{ freeze: false }, true],
    [{ advance: '61' }, false],
    [{ advance: 'an hour' }, false],
    [{ advance: '' }, false],
    [{ advance: -1 }, false],
    [{ advance: null }, false],
    [{ set: 'tomorrow' }, false],
    [{ set: true }, false],
    [{ freeze: 'on' }, false],
    [{}, false],
    [{ advance: '1s', freeze: true }, false],
    [{ advance: '-5m' }, false],
    [{ until: 'cooldown:alice' }, false],
    [{ until: 'tomorrow' }, false],
    [{ until: 5 }, false],
    [{ advance: '1s', brand: 'demo.example' }, false],
    [{ forward: '1s' }, false],
    [[], false],
    ['61s', false],
  ])('%j: %j', async (body, taken) => {
    expect(problemsOf(apis.control, 'moveClock', body).length === 0).toBe(taken);
    expect((await service.control('/clock', body)).status).toBe(taken ? 200 : 400);
  });
});
