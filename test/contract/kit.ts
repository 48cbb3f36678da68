/** The brands of the contract tests, and a service that has them. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Overrides, ServeConfig } from '../../src/emulator/serve-config.ts';
import { databaseKinds } from '../kits/databases/databases.ts';
import { type Answer, startTestService } from '../kits/service/service.ts';

export const API = '/rewards-api';
const fixture = new URL('./fixtures/contract.yaml', import.meta.url).pathname;

const brand = (digit: string, domain: string, apiKey: string) => ({
  brandId: `0x${digit.repeat(40)}`,
  domain,
  apiKey,
});
const SECRET = 'AbCdEfGhJkMnPqRsTuVwXyZ23456789';
/** Skips need its key. */
export const shop = brand('a', 'shop.example', `rk_test_shop_${SECRET}`);
/** Any client may skip the cooldown. */
export const open = brand('b', 'open.example', `rk_test_open_${SECRET}`);
/** Automation is off. */
export const paused = brand('c', 'paused.example', '');
/** Has 25 RWT. */
export const poor = brand('d', 'poor.example', `rk_test_poor_${SECRET}`);

export type Brand = typeof shop;
export const bearer = ({ apiKey }: { apiKey: string }) => ({ authorization: `Bearer ${apiKey}` });

/** A service with the brands of the contract tests, on a clock that only the tests move; `send` sends an event of one of them. */
export async function startContractService(config: Partial<ServeConfig & Overrides> = {}) {
  const service = await startTestService({ seedFiles: [fixture], frozen: true, ...config });
  return {
    ...service,
    /** Changes settings of a brand, or of one of its rules. */
    set: ({ brandId }: { brandId: string }, settings: Record<string, unknown>) =>
      service.change(`/brands/${brandId}`, settings),
    setRule: ({ brandId }: { brandId: string }, eventType: string, settings: Record<string, unknown>) =>
      service.change(`/brands/${brandId}/rules/${eventType}`, settings),
    send: (of: Brand, fields: Record<string, unknown>, headers?: Record<string, string>) =>
      service.post(
        `${API}/manual-event`,
        { brandId: of.brandId, domain: of.domain, eventType: 'once', ...fields },
        headers,
      ),
    bulk: (events: unknown, headers?: Record<string, string>) =>
      service.post(`${API}/bulk-events`, { events }, headers),
    /** What the emulator remembers of an answered request. */
    async explain(answer: { headers: Headers }) {
      const id = answer.headers.get('x-request-id') ?? '';
      return (await service.request(`${service.ready.urls.control}/requests/${id}`)).body;
    },
  };
}

export type ContractService = Awaited<ReturnType<typeof startContractService>>;

/** The same tests on each database; `get` gives the service while a test runs. */
export function onEachDatabase(
  name: string,
  tests: (get: () => ContractService) => void,
  change: Partial<ServeConfig> = {},
) {
  describe.each(databaseKinds)(`${name} (on $kind)`, ({ open: openDatabase }) => {
    let service: ContractService | undefined;
    let database: Awaited<ReturnType<typeof openDatabase>> | undefined;
    beforeAll(async () => {
      database = await openDatabase();
      service = await startContractService({ databaseUrl: database.databaseUrl, ...change });
    });
    afterAll(async () => {
      await service?.stop();
      await database?.stop();
    });
    tests(() => {
      if (!service) throw new Error('the service has not started');
      return service;
    });
  });
}

/** Contract: Body shapes; every refusal carries both documented forms at once. */
export function expectBothForms({ body, headers }: Answer) {
  expect(body).toMatchObject({
    success: false,
    error: expect.stringMatching(/./),
    message: expect.stringMatching(/./),
    details: expect.any(Object),
  });
  expect(Object.keys(body).sort()).toEqual(['details', 'error', 'message', 'success']);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(headers.get('vary')).toMatch(/Origin/);
  expect(headers.get('x-request-id')).toMatch(/^req_/);
}
