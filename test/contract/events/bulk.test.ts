/** Contract: POST bulk-events: every item on its own, in order. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, bearer, onEachDatabase, shop } from '../kit.ts';

const event = (fields: Record<string, unknown> = {}) => ({
  brandId: shop.brandId,
  domain: shop.domain,
  eventType: 'once',
  userEmail: someone(),
  ...fields,
});

onEachDatabase('contract: POST bulk-events', (get) => {
  test('contract: POST bulk-events, 200 body', async () => {
    const { status, body } = await get().bulk([event(), event({ eventType: 'twice' })]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, processed: 2, failed: 0 });
    expect(body.results).toHaveLength(2);
    for (const result of body.results) {
      expect(result).toMatchObject({ success: true, eventId: expect.stringMatching(/-/), rewardAmount: 10 });
      expect(await get().balanceOf(result.walletAddress)).toBe(10n);
    }
    expect(body.results[1].eventType).toBe('twice');
  });

  test('each failure has its own status and reason, and spoils nothing else', async () => {
    const again = event();
    const { status, body } = await get().bulk([
      again,
      again,
      event({ eventType: '-' }),
      event({ domain: 'evil.example' }),
      event({ eventType: 'nothing_such' }),
      event({ eventType: 'custom_chat', channel_id: 'random' }),
      null,
      'text',
      [],
      {},
      event(),
    ]);
    expect(status).toBe(200);
    const told = body.results.map(({ status, statusCode }: Record<string, unknown>) => [status, statusCode]);
    expect(told).toEqual([
      ['rewarded', 200],
      ['duplicate', 409],
      ['invalid_event_data', 400],
      ['domain_not_authorized', 403],
      ['event_not_found', 400],
      ['channel_not_allowed', 403],
      ...Array.from({ length: 4 }, () => ['invalid_event_data', 400]),
      ['rewarded', 200],
    ]);
    expect(body).toMatchObject({ success: true, processed: 2, failed: 9 });
    expect(body.results[1].details.existingEventId).toBe(body.results[0].eventId);
    for (const result of body.results.filter((one: { success: boolean }) => !one.success)) {
      expect(result).toMatchObject({
        success: false,
        error: expect.stringMatching(/./),
        details: expect.any(Object),
      });
    }
    expect(await get().balanceOf(body.results[0].walletAddress)).toBe(10n);
  });

  test('limits count within one request: total, per user', async () => {
    const { body } = await get().bulk(Array.from({ length: 5 }, () => event({ eventType: 'three_in_all' })));
    expect(body.results.map(({ success }: { success: boolean }) => success)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(body.processed).toBe(3);
  });

  test('the brand key and the Origin count for every item', async () => {
    const foreign = [event({ domain: undefined }), event({ domain: 'evil.example' })];
    expect((await get().bulk(foreign)).body.processed).toBe(0);
    expect((await get().bulk(foreign, bearer(shop))).body.processed).toBe(2);
    const origin = { origin: 'https://evil.example' };
    expect((await get().bulk([event()], origin)).body.results[0].statusCode).toBe(403);
  });

  test.each([
    ['no events', {}],
    ['an empty list', { events: [] }],
    ['an object', { events: { 0: event() } }],
    ['a text', { events: 'x' }],
    ['101 events', { events: Array(101).fill(1) }],
    ['a list on top', [event()]],
  ])('%s: 400', async (_, body) => {
    const answer = await get().post(`${API}/bulk-events`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.errors[0]).toMatch(/^events/);
  });

  test('100 items are taken, as far as 10 KB go', async () => {
    const { status, body } = await get().bulk(Array(100).fill(1));
    expect([status, body.failed, body.results.length]).toEqual([200, 100, 100]);
    const tooMuch = await get().bulk(Array.from({ length: 90 }, () => event()));
    expect(tooMuch.status).toBe(413);
  });

  test('every item can be explained, also one that was refused for its fields', async () => {
    const answer = await get().bulk([event(), event({ eventType: '-' }), event({ domain: 'evil.example' })]);
    const { explained } = await get().explain(answer);
    const reasons = explained.map(
      ({ checks }: { checks: { name: string; outcome: string }[] }) =>
        checks.find(({ outcome }) => outcome === 'refused')?.name,
    );
    expect(reasons).toEqual([undefined, 'fields', 'domain']);
  });
});
