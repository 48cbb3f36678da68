/** Contract: Errors, 503: the database went away under a running service. */
import { describe, expect, test } from 'vitest';
import { databaseKinds, startPostgres } from '../kits/databases/databases.ts';
import { type Answer, someone } from '../kits/service/service.ts';
import { API, expectBothForms, shop, startContractService } from './kit.ts';

describe.skipIf(databaseKinds.length < 2)('contract: Errors, 503 Database not configured', () => {
  test('every endpoint that needs the ledger says so, and none breaks', async () => {
    const database = await startPostgres();
    const service = await startContractService({ databaseUrl: database.url });
    try {
      const origin = { origin: 'https://shop.example' };
      const stranger = { origin: 'https://elsewhere.example' };
      for (const headers of [origin, stranger]) await service.request(`${API}/debug`, { headers });
      await database.stop();
      const answers: [string, Answer][] = [
        ['manual-event', await service.send(shop, { userEmail: someone() })],
        ['manual-event with Origin', await service.send(shop, { userEmail: someone() }, origin)],
        ['keyed', await service.send(shop, { userEmail: someone() }, { 'idempotency-key': 'k' })],
        ['event-config', await service.request(`${API}/event-config?brandId=${shop.brandId}`)],
        [
          'user-balance',
          await service.request(`${API}/user-balance?brandId=${shop.brandId}&userEmail=a@b.example`),
        ],
        ['verify-dns', await service.post(`${API}/verify-dns`, { domain: 'shop.example' })],
        ['health', await service.request(`${API}/health`)],
        ['diagnostic', await service.request(`${API}/diagnostic`)],
      ];
      for (const [what, answer] of answers) {
        expect([what, answer.status, answer.body.error]).toEqual([what, 503, 'Database not configured']);
        expectBothForms(answer);
      }
      // Pages that were known before can read why, and send their preflights.
      const preflight = (headers: Record<string, string>) =>
        service.request(`${API}/manual-event`, {
          method: 'OPTIONS',
          headers: { ...headers, 'access-control-request-method': 'POST' },
        });
      const allowed = (answer: Answer) => answer.headers.get('access-control-allow-origin');
      const known = await preflight(origin);
      expect([known.status, allowed(known)]).toEqual([204, origin.origin]);
      expect(allowed(await service.send(shop, { userEmail: someone() }, origin))).toBe(origin.origin);
      const foreign = await preflight(stranger);
      expect([foreign.status, allowed(foreign)]).toEqual([204, null]);
      expect((await preflight({ origin: 'https://new.example' })).status).toBe(503);
      const bulk = await service.bulk([
        { brandId: shop.brandId, domain: shop.domain, eventType: 'once', userEmail: someone() },
      ]);
      expect([200, 503]).toContain(bulk.status);
      expect((await service.request(`${API}/debug`)).status).toBe(200);
    } finally {
      // Whatever could not be given back to the lost database is told, and nothing waits for it.
      await service.stop().catch(() => undefined);
    }
  }, 60_000);
});
