/** Contract: Limits, Cooldown bypass: each row of the table, and everybody who only pretends. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, onEachDatabase, open, shop } from '../kit.ts';

const SOURCES = ['chat_manual_reward', 'voice_claim', 'gateway_event'];

onEachDatabase('contract: Cooldown bypass', (get) => {
  /** Claims once, waits out the duplicate window, and claims again with `fields`. */
  const again = async (fields: Record<string, unknown>, headers?: Record<string, string>, brand = shop) => {
    const userEmail = someone();
    const first = await get().send(brand, { userEmail });
    expect(first.status).toBe(200);
    await get().advance('61s');
    const { status, body } = await get().send(brand, { userEmail, ...fields }, headers);
    return status === 200 ? 'rewarded' : body.details.reason;
  };

  test('contract: Cooldown bypass, Normal events: cooldown, max claims and total enforced', async () => {
    expect(await again({})).toBe('cooldown');
    expect(await again({ metadata: { source: 'web' } }, bearer(shop))).toBe('cooldown');
    expect(await again({}, bearer(shop))).toBe('cooldown');
  });

  test.each(SOURCES)('contract: Cooldown bypass, %s: cooldown and max claims bypassed', async (source) => {
    expect(await again({ metadata: { source } }, bearer(shop))).toBe('rewarded');
  });

  test.each(SOURCES)('contract: Cooldown bypass, %s: never the duplicate window', async (source) => {
    const userEmail = someone();
    const fields = { userEmail, metadata: { source } };
    expect((await get().send(shop, fields, bearer(shop))).status).toBe(200);
    expect((await get().send(shop, fields, bearer(shop))).status).toBe(409);
  });

  test('contract: Cooldown bypass, Max total claims: enforced for every source', async () => {
    const reasons: string[] = [];
    for (const source of [...SOURCES, 'web']) {
      const fields = { userEmail: someone(), eventType: 'source_in_all', metadata: { source } };
      const { status, body } = await get().send(shop, fields, bearer(shop));
      reasons.push(status === 200 ? 'rewarded' : body.details.reason);
    }
    expect(reasons).toEqual(['rewarded', 'rewarded', 'max_total_claims_reached', 'max_total_claims_reached']);
  });

  test('a source without the key of the brand is a normal event', async () => {
    for (const source of SOURCES) {
      expect(await again({ metadata: { source } })).toBe('cooldown');
      expect(await again({ metadata: { source } }, bearer(open))).toBe('cooldown');
      expect(await again({ metadata: { source } }, { authorization: `Bearer ${shop.apiKey}x` })).toBe(
        'cooldown',
      );
    }
  });

  test('a source is believed in metadata only, by its exact name', async () => {
    const pretended: Record<string, unknown>[] = [
      { source: 'voice_claim' },
      { metadata: { source: ['voice_claim'] } },
      { metadata: { source: { voice_claim: true } } },
      { metadata: { source: 'Voice_Claim' } },
      { metadata: { Source: 'voice_claim' } },
      { metadata: { metadata: { source: 'voice_claim' } } },
    ];
    for (const fields of pretended) expect(await again(fields, bearer(shop))).toBe('cooldown');
    for (const source of SOURCES) {
      const { body } = await get().send(shop, { userEmail: someone(), eventType: source }, bearer(shop));
      expect(body.error).toBe(`Event not found: ${source}`);
    }
  });

  test('contract: metadata.skip_cooldown true bypasses the cooldown where the brand allows every client', async () => {
    expect(await again({ metadata: { skip_cooldown: true }, eventType: 'once' }, {}, open)).toBe(
      'max_claims_reached',
    );
    const userEmail = someone();
    const hourly = async (metadata: unknown) => {
      const { status } = await get().send(open, { userEmail, eventType: 'hourly', metadata });
      await get().advance('61s');
      return status;
    };
    expect([await hourly({}), await hourly({}), await hourly({ skip_cooldown: true })]).toEqual([
      200, 429, 200,
    ]);
  });

  test('contract: metadata.skip_cooldown needs the key where the brand says so', async () => {
    const skip = { metadata: { skip_cooldown: true } };
    expect(await again(skip)).toBe('cooldown');
    expect(await again(skip, bearer(open))).toBe('cooldown');
    expect(await again(skip, bearer(shop))).toBe('max_claims_reached');
  });

  test('only the literal true of the event itself skips', async () => {
    const userEmail = someone();
    const raw = (metadata: string) =>
      get().post(
        '/rewards-api/manual-event',
        `{"brandId":"${open.brandId}","domain":"${open.domain}","eventType":"hourly","userEmail":"${userEmail}",${metadata}}`,
      );
    expect((await raw('"metadata":{}')).status).toBe(200);
    await get().advance('61s');
    const pretended: [string, number][] = [
      ['"metadata":{"skip_cooldown":"true"}', 400],
      ['"metadata":{"skip_cooldown":1}', 400],
      ['"metadata":{"skip_cooldown":[true]}', 400],
      ['"metadata":{"skip_cooldown":{}}', 400],
      ['"metadata":{"skip_cooldown":false}', 429],
      ['"metadata":{"skip_cooldown":null}', 429],
      ['"metadata":{"__proto__":{"skip_cooldown":true}}', 400],
      ['"metadata":{"constructor":{"prototype":{"skip_cooldown":true}}}', 400],
      ['"metadata":{"__pro\\u0000to__":{"skip_cooldown":true}}', 429],
      ['"metadata":{"metadata":{"skip_cooldown":true}}', 429],
      ['"skip_cooldown":true', 429],
      ['"metadata":{"skip_cooldown":true,"skip_cooldown":false}', 429],
      ['"metadata":{"SKIP_COOLDOWN":true}', 429],
    ];
    for (const [metadata, status] of pretended) {
      expect([metadata, (await raw(metadata)).status]).toEqual([metadata, status]);
    }
    expect((await raw('"metadata":{"skip_cooldown":true}')).status).toBe(200);
    expect(({} as Record<string, unknown>).skip_cooldown).toBeUndefined();
  });
});
