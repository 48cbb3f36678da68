/** contract: Limits, Relay transactions and Relay API requests. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';

const HOUR_MS = 3_600_000;
const at = (headers: Headers, name: string) => Number(headers.get(`x-ratelimit-${name}`));

describe.each(databaseKinds)('on $kind', ({ kind, open }) => {
  /** Also stops it, at the end of the test or of all. */
  const start = async (
    change: Parameters<typeof startRelayKit>[0],
    atEnd: (stop: () => Promise<void>) => void,
  ): Promise<RelayKit> => {
    const database = await open();
    const started = await startRelayKit({ databaseUrl: database.databaseUrl, ...change });
    atEnd(async () => {
      await started.stop();
      await database.stop();
    });
    return started;
  };
  let kit: RelayKit;
  let stop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    kit = await start({}, (stopping) => {
      stop = stopping;
    });
  });
  afterAll(() => stop?.());

  test('a refusal uses no key up: the same call passes once the hour is over, and is then sent once', async () => {
    const scope = { scope: 'relay user', windowMs: HOUR_MS };
    const kit = await start({ relay: { userLimit: { ...scope, limit: 1 } } }, onTestFinished);
    const { alice } = kit.users;
    const call = kit.purchase(alice.address);
    const keyed = () => kit.relay(alice, call, { 'idempotency-key': 'too-many' });
    expect((await kit.relay(alice, call)).status).toBe(200);
    const first = await keyed();
    expect([first.status, at(first.headers, 'remaining')]).toEqual([429, 0]);
    expect(Number(first.headers.get('retry-after'))).toBe(first.body.details.remainingSeconds);

    await kit.control('/clock', { set: Date.parse(first.body.details.retryAt) });
    const sent = await keyed();
    expect([sent.status, at(sent.headers, 'limit'), at(sent.headers, 'remaining')]).toEqual([200, 1, 0]);
    expect(at(sent.headers, 'reset')).toBeGreaterThan(at(first.headers, 'reset'));
    const again = await keyed();
    expect([again.status, again.body]).toEqual([200, sent.body]);
    expect(await kit.perksOf(alice.address, 1n)).toBe(2n);
  }, 60_000);

  test('100 at once: exactly 35', async () => {
    const { carol } = kit.users;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => kit.relay(carol, kit.purchase(carol.address))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(35);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(65);
    expect(await kit.perksOf(carol.address, 1n)).toBe(35n);
  }, 60_000);

  test("a brand's gas budget: what is over it is refused and costs nothing, until the next day", async () => {
    const kit = await start({ relay: { budgetGwei: 400_000, userShare: 1 } }, onTestFinished);
    // No day ends between two of these calls.
    await kit.control('/clock', { freeze: true });
    const { alice } = kit.users;
    const buy = () => kit.relay(alice, { ...kit.purchase(alice.address), gasLimit: 1_000_000 });
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 20) statuses.push((await buy()).status);
    expect(statuses.length).toBeGreaterThan(1);
    expect(statuses.length).toBeLessThan(20);
    const refused = await buy();
    expect([refused.status, refused.body.code]).toEqual([429, 'GAS_BUDGET_EXCEEDED']);
    expect(at(refused.headers, 'remaining')).toBe(35 - (statuses.length - 1));
    const raised = await kit.request(`${kit.ready.urls.control}/brands/${kit.brand.brandId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${kit.ready.controlToken}` },
      body: JSON.stringify({ gasBudget: '1' }),
    });
    expect([raised.status, raised.body.gasBudget]).toEqual([200, 1]);
    expect((await buy()).status).toBe(200);
  }, 60_000);

  // How windows count and end in each database, `ledger/limits.test.ts` shows.
  if (kind !== 'sqlite') return;

  test('35 an hour from the first; the 36th is refused, and after the reset the next passes', async () => {
    const { alice, bob } = kit.users;
    const buy = () => kit.relay(alice, kit.purchase(alice.address));
    const began = (await kit.now()) * 1_000;
    let reset = 0;
    for (let sent = 1; sent <= 35; sent++) {
      const { status, headers } = await buy();
      expect([status, at(headers, 'limit'), at(headers, 'remaining')]).toEqual([200, 35, 35 - sent]);
      reset ||= at(headers, 'reset');
      expect(at(headers, 'reset')).toBe(reset);
    }
    expect(reset * 1_000 - began).toBeGreaterThan(HOUR_MS - 5_000);
    expect(reset * 1_000 - began).toBeLessThan(HOUR_MS + 60_000);
    const refused = await buy();
    expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect([
      at(refused.headers, 'limit'),
      at(refused.headers, 'remaining'),
      at(refused.headers, 'reset'),
    ]).toEqual([35, 0, reset]);
    expect(Number(refused.headers.get('retry-after'))).toBe(refused.body.details.remainingSeconds);
    // Somebody else's hour is another one.
    expect((await kit.relay(bob, kit.purchase(bob.address))).status).toBe(200);

    const left = Date.parse(refused.body.details.retryAt);
    await kit.control('/clock', { freeze: true });
    await kit.control('/clock', { set: left - 1 });
    expect((await buy()).status).toBe(429);
    await kit.control('/clock', { set: left });
    const next = await buy();
    expect([next.status, at(next.headers, 'remaining')]).toEqual([200, 34]);
  }, 60_000);

  test('100 requests a minute of one address, for all its users together and however they end', async () => {
    const { alice } = kit.users;
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const ask = (headers: Record<string, string>) => kit.send({}, { ...headers, ...from });
    for (let sent = 1; sent <= 100; sent++) {
      const { status, headers } = await ask(sent % 2 ? {} : { authorization: `Bearer ${alice.token}` });
      expect(status).toBe(sent % 2 ? 401 : 400);
      if (status === 401) expect(at(headers, 'remaining')).toBe(100 - sent);
    }
    const refused = await ask({});
    expect([refused.status, refused.body.code, at(refused.headers, 'limit')]).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
      100,
    ]);
    expect((await kit.send({}, { 'x-forwarded-for': '203.0.113.8' })).status).toBe(401);
    await kit.advance('61s');
    expect((await ask({})).status).toBe(401);
  }, 60_000);
});
