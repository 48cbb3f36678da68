/** The table of docs/emulator.md: what follows the emulator's clock after a jump, and what keeps the machine's time. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PERK, type RelayKit, startRelayKit, type User } from '../../kits/chain/wallet.ts';
import { startReceiver } from '../../kits/network/receivers.ts';
import { until } from '../../kits/service/clock.ts';

const START_MS = Date.UTC(2031, 0, 1, 12);
const DAY = 86_400_000;

let kit: RelayKit;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  [kit, receiver] = await Promise.all([
    startRelayKit({
      clockStartMs: START_MS,
      frozen: true,
      addressRequestsMax: 30,
      relay: { budgetGwei: 400_000, userShare: 1 },
    }),
    startReceiver(),
  ]);
});
afterAll(async () => {
  await kit?.stop();
  await receiver?.stop();
});

const clock = async () => (await kit.request(`${kit.ready.urls.control}/clock`)).body;
/** With a token that has not expired. */
const loggedIn = async (user: User): Promise<User> => ({ ...user, ...(await kit.keyless(user.email)) });
let users = 0;
const reward = async (headers?: Record<string, string>, userEmail = `someone${++users}@demo.example`) =>
  kit.event({ userEmail }, headers);

describe('follows the clock', () => {
  test.each([
    ['frozen', true],
    ['running', false],
  ])('the chain: the block of a reward has the second of the %s clock', async (_, freeze) => {
    await kit.control('/clock', { freeze });
    const from = (await kit.advance('100d')).body.nowMs;
    const { body } = await reward();
    const receipt = await kit.chain.getTransactionReceipt({ hash: body.transactionHash });
    const { timestamp } = await kit.chain.getBlock({ blockNumber: receipt.blockNumber });
    expect(Number(timestamp)).toBeGreaterThanOrEqual(Math.floor(from / 1_000) - 1);
    expect(Number(timestamp)).toBeLessThanOrEqual(Math.floor((await clock()).nowMs / 1_000));
    await kit.control('/clock', { freeze: true });
    const { nowMs } = await clock();
    await kit.control('/clock', { set: Math.ceil(nowMs / DAY) * DAY + DAY / 2 });
  });

  test('the gas budget of a day: refused until the last millisecond of the day, and not on the next', async () => {
    const buy = async () => {
      const alice = await loggedIn(kit.users.alice);
      return kit.relay(alice, { ...kit.purchase(alice.address), gasLimit: 1_000_000 });
    };
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 20) statuses.push((await buy()).status);
    expect(statuses.at(-1)).toBe(429);
    const nextDayMs = (Math.floor((await clock()).nowMs / DAY) + 1) * DAY;
    await kit.control('/clock', { set: nextDayMs - 1 });
    expect((await buy()).body.code).toBe('GAS_BUDGET_EXCEEDED');
    await kit.advance('1ms');
    expect((await buy()).status).toBe(200);
  });

  test('the deadline of a permit', async () => {
    const alice = await loggedIn(kit.users.alice);
    const deadline = BigInt((await kit.now()) + 3_600);
    const permit = await kit.permit(alice, { deadline });
    await kit.advance('1h');
    const { body } = await kit.relay(alice, { ...kit.purchase(alice.address, PERK, 60n), permit });
    expect(body.details.reason).toBe('permit_expired');
  });
});

describe("keeps the machine's time", () => {
  test('the signature of a webhook: its receiver knows no other', async () => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    await kit.control('/webhooks/endpoints', { brand: kit.brand.domain, url });
    await reward();
    await until('it came', () => receiver.received.length > 0);
    const seconds = Number(receiver.received[0]?.headers['webhook-timestamp']);
    expect((await clock()).nowMs / 1_000).toBeGreaterThan(seconds + 365 * 86_400);
  });

  test('the answer under an idempotency key', async () => {
    const key = { 'idempotency-key': 'kept' };
    const first = await reward(key, 'keyed@demo.example');
    expect(first.status).toBe(200);
    await kit.advance('25h');
    const again = await reward(key, 'keyed@demo.example');
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  test('the requests of one address', async () => {
    const from = { 'x-forwarded-for': '203.0.113.9' };
    const ask = () => kit.request('/rewards-api/health', { headers: from });
    let answer = await ask();
    while (answer.status !== 429) answer = await ask();
    // The reset is a moment of the machine, years before the clock's.
    const resetSeconds = Number(answer.headers.get('x-ratelimit-reset'));
    expect((await clock()).nowMs / 1_000).toBeGreaterThan(resetSeconds + 365 * 86_400);
  });

  test("the session of a browser that opened the banner's link", async () => {
    const { control } = kit.ready.urls;
    const opened = await fetch(`${control}/?token=${kit.ready.controlToken}`, { redirect: 'manual' });
    const cookie = (opened.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
    await kit.advance('400d');
    expect((await fetch(`${control}/clock`, { headers: { cookie } })).status).toBe(200);
    expect((await fetch(`${control}/clock`)).status).toBe(401);
  });
});
