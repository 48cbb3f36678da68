/** Values that the served descriptions and the service judge alike: what one takes, the other takes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/http/openapi.ts';
import { startTestService, type TestService } from '../kits/service.ts';
import { operationsOf, validatorOf } from './api-description.ts';

let service: TestService;
let control: ApiDocument;
beforeAll(async () => {
  service = await startTestService();
  control = (await service.request(`${service.ready.urls.control}/openapi.json`)).body;
});
afterAll(() => service?.stop());

/** What the description finds wrong with a body of this operation. */
function problemsOf(api: ApiDocument, operationId: string, body: unknown): string[] {
  const described = operationsOf(api).find(({ operation }) => operation.operationId === operationId);
  const schema = described?.operation.requestBody?.content['application/json']?.schema;
  if (!schema) throw new Error(`${operationId} takes no body`);
  return validatorOf(api)(schema, body);
}

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
    [[], false],
    ['61s', false],
  ])('%j: %j', async (body, taken) => {
    expect(problemsOf(control, 'moveClock', body).length === 0).toBe(taken);
    expect((await service.control('/clock', body)).status).toBe(taken ? 200 : 400);
  });
});
