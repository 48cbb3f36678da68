/** A brand's spend limits: all its events together, one by one and in bulk, until the hour or day is over. */
import { describe, expect, test } from 'vitest';
import { someone, startTestService } from '../../kits/service/service.ts';
import { bearer, expectBothForms, onEachDatabase, open, shop } from '../kit.ts';

const HOUR_S = 3_600;

onEachDatabase('spend limits', (get) => {
  const send = (headers?: Record<string, string>, fields: Record<string, unknown> = {}) =>
    get().send(shop, { userEmail: someone(), eventType: 'endless', ...fields }, headers);
  const limit = async (limits: Record<string, unknown>) => {
    await get().set(shop, { spendPerHour: null, spendPerDay: null });
    expect((await get().set(shop, limits)).body).toMatchObject(limits);
  };

  test('events at once stop at exactly the limit; other brands are unharmed; the hour passes', async () => {
    await limit({ spendPerHour: 300 });
    const attack = Array.from({ length: 90 }, () => send());
    const honest = Array.from({ length: 10 }, () => get().send(open, { userEmail: someone() }));
    const answers = await Promise.all(attack);
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([30, 60]);
    expect((await Promise.all(honest)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    const [{ body, headers } = await send()] = refused;
    expect(body).toMatchObject({
      error: 'Spend limit reached',
      details: { reason: 'spend_limit', span: 'hour' },
    });
    // The brand's numbers are not for everybody.
    expect(Object.keys(body.details).sort()).toEqual(['reason', 'remainingSeconds', 'retryAt', 'span']);
    const waitSeconds = Number(headers.get('retry-after'));
    expect(waitSeconds).toBe(HOUR_S);
    await get().advance(`${waitSeconds - 1}s`);
    expect((await send()).status).toBe(429);
    await get().advance('1s');
    expect((await send()).status).toBe(200);
  });

  test('the key of the brand changes nothing, nor do bulk-events and small rewards', async () => {
    await limit({ spendPerHour: 25 });
    const item = (eventType: string) => ({
      brandId: shop.brandId,
      domain: shop.domain,
      eventType,
      userEmail: someone(),
    });
    const { results } = (await get().bulk([item('endless'), item('endless'), item('endless')])).body;
    expect(results.map(({ status }: { status: unknown }) => status)).toEqual([
      'rewarded',
      'rewarded',
      'spend_limit',
    ]);
    const own = await send(bearer(shop));
    expectBothForms(own);
    expect(own.body.details.reason).toBe('spend_limit');
    const refusal = (await get().explain(own)).explained[0].checks.find(
      ({ outcome }: { outcome: string }) => outcome === 'refused',
    );
    expect(refusal).toMatchObject({ name: 'spend_limit', text: '20 of 25 RWT in the hour, 10 needed' });
    // A refused user has claimed nothing.
    const userEmail = someone();
    expect((await send({}, { userEmail })).status).toBe(429);
    await limit({ spendPerHour: 30 });
    expect((await send({}, { userEmail })).status).toBe(200);
  });

  test('the day outlasts the hour, and a reward above the limit never passes', async () => {
    await limit({ spendPerHour: 100, spendPerDay: 10 });
    expect((await send()).status).toBe(200);
    const { body, headers } = await send();
    expect([body.details.span, headers.get('retry-after')]).toEqual(['day', String(24 * HOUR_S)]);
    await get().advance('1h');
    expect((await send()).body.details.span).toBe('day');
    await get().advance('23h');
    expect((await send()).status).toBe(200);
    await limit({ spendPerHour: 9 });
    const above = await send();
    const details = { reason: 'spend_limit', span: 'hour', retryable: false };
    expect([above.status, above.body.details]).toEqual([429, details]);
    expect(above.headers.has('retry-after')).toBe(false);
    await limit({});
    expect((await send()).status).toBe(200);
  });
});

describe('an operator', () => {
  test('is alarmed once while a limit refuses, and told when it is over', async () => {
    const lines: string[] = [];
    const note = (fields: Record<string, unknown>, message: string) => {
      if (fields.alarm === 'spend_limit') lines.push(`${message}: ${fields.about}`);
    };
    const log = { debug() {}, info: note, warn: note, error: note };
    const service = await startTestService({ log });
    const { brandId } = service.brand;
    await service.change(`/brands/${brandId}`, { spendPerHour: 100 });
    expect((await service.event({ userEmail: someone() })).status).toBe(200);
    for (let again = 0; again < 3; again++)
      expect((await service.event({ userEmail: someone() })).status).toBe(429);
    expect(lines).toEqual([`alarm: ${brandId} hour`]);
    await service.advance('1h');
    expect((await service.event({ userEmail: someone() })).status).toBe(200);
    expect(lines).toEqual([`alarm: ${brandId} hour`, `alarm is over: ${brandId} hour`]);
    await service.stop();
  });
});
