/** Contract: Limits, and States and transitions of a user-event pair, on each database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, type ContractService, onEachDatabase, poor, shop, startContractService } from '../kit.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

onEachDatabase('contract: Limits', (get) => {
  const send = (fields: Record<string, unknown>) => get().send(shop, fields);

  test('contract: States, no prior reward: rewarded; again inside the window: 409', async () => {
    const userEmail = someone();
    const first = await send({ userEmail });
    expect(first.status).toBe(200);
    const again = await send({ userEmail });
    expect(again.status).toBe(409);
    expect(await get().balanceOf(first.body.walletAddress)).toBe(10n);
  });

  test('contract: Limits, Duplicate detection window: 60 seconds, same event and same user only', async () => {
    const userEmail = someone();
    const first = await send({ userEmail, eventType: 'endless' });
    expect((await send({ userEmail, eventType: 'endless' })).body.details.existingEventId).toBe(
      first.body.eventId,
    );
    expect((await send({ userEmail, eventType: 'endless_too' })).status).toBe(200);
    expect((await send({ userEmail: someone(), eventType: 'endless' })).status).toBe(200);
    await get().advance('59999ms');
    const late = await send({ userEmail, eventType: 'endless' });
    expect(late.status).toBe(409);
    expect(late.headers.get('retry-after')).toBe('1');
    await get().advance('1ms');
    const passed = await send({ userEmail, eventType: 'endless' });
    expect(passed.status).toBe(200);
    expect(await get().balanceOf(first.body.walletAddress)).toBe(30n);
  });

  test('contract: Limits, Duplicate detection window: a refused event opens none', async () => {
    const userEmail = someone();
    expect((await send({ userEmail, domain: 'evil.example' })).status).toBe(403);
    expect((await send({ userEmail, eventType: 'custom_chat', channel_id: 'x' })).status).toBe(403);
    expect((await send({ userEmail, eventType: 'custom_chat' })).status).toBe(200);
    expect((await send({ userEmail })).status).toBe(200);
  });

  test('contract: Limits, Cooldown: 24 hours where the rule says nothing', async () => {
    const userEmail = someone();
    await send({ userEmail });
    await get().advance('61s');
    const { status, body, headers } = await send({ userEmail });
    expect(status).toBe(429);
    expect(body.details).toMatchObject({ reason: 'cooldown', cooldownSeconds: 86_400 });
    expect(body.details.remainingSeconds).toBe(86_400 - 61);
    expect(Date.parse(body.details.retryAt)).toBeGreaterThan(0);
    expect(headers.get('retry-after')).toBe(String(body.details.remainingSeconds));
  });

  test('contract: Limits, Cooldown: per user and event type, to the second', async () => {
    const userEmail = someone();
    const first = await send({ userEmail, eventType: 'hourly' });
    await get().advance('61s');
    const refused = await send({ userEmail, eventType: 'hourly' });
    expect(refused.body.details).toMatchObject({
      cooldownSeconds: 3_600,
      previousReward: { eventId: first.body.eventId, rewardAmount: 10 },
    });
    expect((await send({ userEmail, eventType: 'endless' })).status).toBe(200);
    expect((await send({ userEmail: someone(), eventType: 'hourly' })).status).toBe(200);
    await get().setClock(Date.parse(refused.body.details.retryAt) - 1);
    expect((await send({ userEmail, eventType: 'hourly' })).status).toBe(429);
    await get().setClock(Date.parse(refused.body.details.retryAt));
    expect((await send({ userEmail, eventType: 'hourly' })).status).toBe(200);
  });

  test('contract: Limits, Cooldown: 0 is none', async () => {
    const userEmail = someone();
    await send({ userEmail, eventType: 'twice' });
    await get().advance('60s');
    expect((await send({ userEmail, eventType: 'twice' })).status).toBe(200);
  });

  test('contract: Limits, Max claims per user: default 1', async () => {
    const userEmail = someone();
    await send({ userEmail });
    await get().advance('24h');
    const { status, body } = await send({ userEmail });
    expect(status).toBe(429);
    expect(body.error).toBe('Max claims reached');
    expect(body.details).toMatchObject({ reason: 'max_claims_reached', totalClaims: 1, maxClaims: 1 });
  });

  test('contract: Limits, Max claims per user: 2 means twice', async () => {
    const userEmail = someone();
    const statuses: number[] = [];
    for (let time = 0; time < 4; time++) {
      statuses.push((await send({ userEmail, eventType: 'twice' })).status);
      await get().advance('60s');
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test.each(['endless', 'endless_too'])(
    'contract: Limits, Max claims per user: unlimited (%s)',
    async (eventType) => {
      const userEmail = someone();
      for (let time = 0; time < 4; time++) {
        expect((await send({ userEmail, eventType })).status).toBe(200);
        await get().advance('60s');
      }
    },
  );

  test('contract: Limits, Max total claims: all users together', async () => {
    const statuses: number[] = [];
    for (let time = 0; time < 5; time++) {
      const answer = await send({ userEmail: someone(), eventType: 'three_in_all' });
      statuses.push(answer.status);
      if (answer.status === 429) {
        expect(answer.body.error).toBe('Max total claims reached');
        expect(answer.body.details).toMatchObject({
          reason: 'max_total_claims_reached',
          totalClaims: 3,
          maxTotalClaims: 3,
        });
      }
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  test('a brand without funds: 500, and nothing is claimed', async () => {
    const userEmail = someone();
    const { status, body } = await get().send(poor, { userEmail, eventType: 'dear' });
    expect(status).toBe(500);
    // What the brand has left is told to its own servers alone.
    expect(body.details).toEqual({ reason: 'insufficient_brand_balance', required: 100 });
    const own = await get().send(poor, { userEmail, eventType: 'dear' }, bearer(poor));
    expect(own.body.details).toEqual({
      reason: 'insufficient_brand_balance',
      available: 25,
      required: 100,
    });
    const [item] = (await get().bulk([{ ...poor, eventType: 'dear', userEmail }])).body.results;
    expect(item.details).not.toHaveProperty('available');
    // A claim that counted would be a duplicate now.
    expect((await get().send(poor, { userEmail, eventType: 'dear' })).status).toBe(500);
    const statuses: number[] = [];
    for (let time = 0; time < 3; time++)
      statuses.push((await get().send(poor, { userEmail: someone() })).status);
    expect(statuses).toEqual([200, 200, 500]);
    expect(await get().escrowOf(poor.brandId)).toBe(5n);
  });
});

describe('contract: Limits, Duplicate detection window (another statement gives 5 seconds)', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService({ duplicateWindowMs: 5_000 });
  });
  afterAll(() => service?.stop());

  test('is a setting', async () => {
    const userEmail = someone();
    const send = async () => (await service.send(shop, { userEmail, eventType: 'endless' })).status;
    expect([await send(), await send()]).toEqual([200, 409]);
    await service.advance('4999ms');
    expect(await send()).toBe(409);
    await service.advance('1ms');
    expect(await send()).toBe(200);
  });
});

describe('contract: Errors, Cooldown, earlier form', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService({ errorDialect: 'earlier' });
  });
  afterAll(() => service?.stop());

  test('Duplicate reward, cooldown_not_expired', async () => {
    const userEmail = someone();
    const first = await service.send(shop, { userEmail });
    const twice = await service.send(shop, { userEmail });
    expect([twice.status, twice.body.error]).toEqual([409, 'Duplicate reward']);
    expect(twice.body.details).toMatchObject({
      reason: 'duplicate',
      existingEventId: first.body.eventId,
    });
    await service.advance('61s');
    const { status, body } = await service.send(shop, { userEmail });
    expect([status, body.error]).toEqual([429, 'Duplicate reward']);
    expect(body.details).toMatchObject({ reason: 'cooldown_not_expired', cooldownSeconds: 86_400 });
    const bulk = await service.bulk([
      { brandId: shop.brandId, domain: shop.domain, eventType: 'once', userEmail },
    ]);
    expect(bulk.body.results[0]).toMatchObject({
      error: 'Duplicate reward',
      status: 'cooldown',
      statusCode: 429,
    });
  });
});

describe('the clock of the limits', () => {
  let service: ContractService;
  const startMs = Date.UTC(2031, 5, 1);
  beforeAll(async () => {
    service = await startContractService({ clockStartMs: startMs, frozen: true });
  });
  afterAll(() => service?.stop());

  test('contract: Limits, at the millisecond', async () => {
    const userEmail = someone();
    const at = async (ms: number) => {
      await service.setClock(startMs + ms);
      return (await service.send(shop, { userEmail, eventType: 'hourly' })).status;
    };
    expect(await at(0)).toBe(200);
    expect(await at(MINUTE - 1)).toBe(409);
    expect(await at(MINUTE)).toBe(429);
    expect(await at(HOUR - 1)).toBe(429);
    expect(await at(HOUR)).toBe(200);
    expect(await at(HOUR + MINUTE - 1)).toBe(409);
  });
});
