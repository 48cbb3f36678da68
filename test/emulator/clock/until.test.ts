import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractService, open, shop, startContractService } from '../../contract/kit.ts';
import { someone } from '../../kits/service/service.ts';

const START_MS = Date.UTC(2031, 0, 1, 12);
const HOUR = 3_600_000;
let service: ContractService;

beforeAll(async () => {
  service = await startContractService({ clockStartMs: START_MS, frozen: true });
});
afterAll(() => service.stop());

const until = (condition: string, more: object = {}) =>
  service.control('/clock', { until: condition, ...more });
const nowMs = async () => (await service.request(`${service.ready.urls.control}/clock`)).body.nowMs as number;
const hourly = (userEmail: string, brand = shop) => service.send(brand, { userEmail, eventType: 'hourly' });

describe('cooldown', () => {
  test('an event is refused one millisecond before, and rewarded at the moment', async () => {
    const user = someone();
    expect((await hourly(user)).status).toBe(200);
    const endsMs = (await nowMs()) + HOUR;
    await service.setClock(endsMs - 1);
    expect((await hourly(user)).status).toBe(429);
    const moved = await until(`cooldown:${user}/hourly`);
    expect(moved).toMatchObject({ status: 200, body: { nowMs: endsMs, frozen: true } });
    expect(moved.body.fired).toContainEqual({
      at: new Date(endsMs).toISOString(),
      kind: 'cooldown',
      what: `${user} may claim hourly of Shop again`,
    });
    expect((await hourly(user)).status).toBe(200);
  });

  test('of several brands needs the brand', async () => {
    const user = someone();
    await hourly(user, open);
    await service.advance('10m');
    await hourly(user);
    const { status, body } = await until(`cooldown:${user}/hourly`);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      error: `Cooldowns of 2 brands hold up hourly of ${user}`,
      message: 'Say whose: --brand shop.example or open.example; over HTTP, the field brand.',
      details: { reason: 'condition_not_ahead', why: 'ambiguous' },
    });
    const endsMs = (await nowMs()) + 50 * 60_000;
    expect((await until(`cooldown:${user}/hourly`, { brand: 'open.example' })).body.nowMs).toBe(endsMs);
    expect((await hourly(user, open)).status).toBe(200);
    expect((await hourly(user)).status).toBe(429);
    const unknown = await until(`cooldown:${user}/hourly`, { brand: 'nobody.example' });
    expect(unknown.body.details.reason).toBe('brand_not_found');
  });

  test('that is not running is refused with the reason, and the clock stays', async () => {
    const [user, once] = [someone(), someone()];
    await hourly(user);
    await service.send(shop, { userEmail: once, eventType: 'once' });
    await service.advance('25h');
    const before = await nowMs();
    const said = async (condition: string) => {
      const { status, body } = await until(condition);
      return [status, body.details.why, body.error];
    };
    expect(await said(`cooldown:${user}/hourly`)).toEqual([
      409,
      'already_passed',
      `The cooldown of ${user} for hourly has been over since ${new Date(before - 24 * HOUR).toISOString()}`,
    ]);
    expect(await said(`cooldown:${user}/twice`)).toEqual([
      409,
      'not_found',
      `${user} has no reward for twice, so no cooldown holds it up`,
    ]);
    expect(await said(`cooldown:${once}/once`)).toEqual([
      409,
      'never',
      `Waiting does not help: ${once} has claimed once 1 of 1 times`,
    ]);
    expect(await said('cooldown:nobody@shop.example/once')).toEqual([
      409,
      'not_found',
      'No user nobody@shop.example has a wallet, so no cooldown holds them up',
    ]);
    expect(await nowMs()).toBe(before);
  });
});

describe('token-expiry', () => {
  const issue = async (expires: string) =>
    (await service.control('/tokens', { user: 'alice@shop.example', expires })).body;
  const verifies = async (token: string) =>
    (await service.control('/tokens/verify', { token })).body.verifies as boolean;

  test('the last token that was issued is taken one millisecond before, and refused at the moment', async () => {
    const { token, expiresAt } = await issue('15m');
    // Verifiers allow clocks to differ by five seconds.
    const overMs = Date.parse(expiresAt) + 5_000;
    await service.setClock(overMs - 1);
    expect(await verifies(token)).toBe(true);
    const moved = await until('token-expiry');
    expect(moved.body.nowMs).toBe(overMs);
    expect(await verifies(token)).toBe(false);
    expect((await until('token-expiry')).body).toMatchObject({
      error: `The token expired at ${expiresAt}`,
      details: { why: 'already_passed' },
    });
  });

  test('of a token that is given', async () => {
    const { token, expiresAt } = await issue('1h');
    await issue('2h');
    const moved = await until(`token-expiry:${token}`);
    expect(moved.body.nowMs).toBe(Date.parse(expiresAt) + 5_000);
    expect(moved.body.fired.map(({ kind, at }: Record<string, string>) => [kind, at])).toContainEqual([
      'token-expiry',
      expiresAt,
    ]);
    expect(await verifies(token)).toBe(false);
    expect((await until('token-expiry:none')).body.error).toBe('The text is no token that expires');
  });
});

test.each([
  [{ advance: '-5m' }, '"-5m" goes back, and time moves only forward'],
  [{ advance: -1 }, '-1 goes back, and time moves only forward'],
  [{ advance: '90' }, '"90" has no unit'],
  [{ advance: 'soon' }, '"soon" is no duration'],
  [{ advance: '9000000d' }, 'The clock ends with the year 9998'],
  [{ set: 'tomorrow' }, '"tomorrow" is no time'],
  [{ set: '2030-01-01T00:00:00Z' }, expect.stringMatching(/^The clock is at .* and moves only forward\.$/)],
  [{ until: 'lunch' }, '"lunch" is nothing that the clock can be moved to'],
  [{ until: 'cooldown:alice' }, '"cooldown:alice" is nothing that the clock can be moved to'],
  [{}, 'The body asks for no single change of the clock'],
])('%j is refused with what helps', async (body, error) => {
  const answer = await service.control('/clock', body);
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    error,
    message: expect.stringMatching(/./),
    details: { reason: 'invalid_clock_change' },
  });
});
