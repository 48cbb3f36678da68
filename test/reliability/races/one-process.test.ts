/** Limits under a crowd, one process, on each database. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';
import { brandIds, fixture, people, rush, statuses } from './crowd.ts';

// Hundreds of rewards, one after the other, on whatever machine this is.
vi.setConfig({ testTimeout: 120_000 });

describe.each(databaseKinds)('a crowd, one process, on $kind', ({ open }) => {
  let service: TestService;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    service = await startTestService({
      databaseUrl: database.databaseUrl,
      seedFiles: [fixture],
      duplicateWindowMs: 0,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
  });
  const paidTo = async (wallets: unknown[]) => {
    const payouts = await service.payouts();
    return [...new Set(wallets)].flatMap((wallet) => payouts.get(String(wallet)) ?? []);
  };

  test('contract: Limits, Max total claims: of 1,000 at once exactly 100 are rewarded, and paid', async () => {
    const events = people(1_000, 'all').map((userEmail) => ({ eventType: 'hundred_in_all', userEmail }));
    const answers = await rush([service], events);
    expect(statuses(answers)).toEqual({ 200: 100, 429: 900 });
    const rewarded = answers.filter(({ status }) => status === 200);
    const wallets = rewarded.map(({ body }) => body.walletAddress);
    // An answer says that its transaction was sent; the block comes when the node has time for it.
    await expect.poll(() => paidTo(wallets)).toEqual(Array(100).fill(5n));
  });

  test.each([
    ['one_each', 1],
    ['three_each', 3],
  ])('contract: Limits, Max claims per user: %s under 20 rounds of 20 at once', async (eventType, max) => {
    for (let round = 0; round < 20; round++) {
      const userEmail = `${eventType}-${round}@people.example`;
      const answers = await rush([service], Array(20).fill({ eventType, userEmail }));
      expect(statuses(answers)).toEqual({ 200: max, 429: 20 - max });
      const wallets = answers.map(({ body }) => body.walletAddress).filter(Boolean);
      await expect.poll(() => paidTo(wallets)).toEqual(Array(max).fill(5n));
    }
  });

  test('2,000 anonymous events at once stop at exactly spendPerHour, and another brand is unharmed', async () => {
    const attack = people(2_000, 'spend').map((userEmail) => ({ eventType: 'four', userEmail }));
    const honest = people(200, 'honest').map((userEmail) => ({ eventType: 'one_each', userEmail }));
    // Honest events come all the time, not before or after the others.
    const mixed = attack.flatMap((event, n) => {
      const own = n % 10 === 0 ? honest[n / 10] : undefined;
      return own ? [event, own] : [event];
    });
    const answers = await rush([service], mixed);
    const of = (eventType: string) => answers.filter((_, n) => mixed[n]?.eventType === eventType);
    expect(statuses(of('four'))).toEqual({ 200: 500, 429: 1_500 });
    expect(statuses(of('one_each'))).toEqual({ 200: 200 });
    const refused = of('four').filter(({ status }) => status === 429);
    expect(new Set(refused.map(({ body }) => body.details.reason))).toEqual(new Set(['spend_limit']));
    await expect.poll(() => service.escrowOf(brandIds.limited)).toBe(1_000_000n - 2_000n);
  });

  test('funds for 100 rewards pay 100 of 300 at once, and the escrow is empty', async () => {
    const answers = await rush(
      [service],
      people(300, 'thin').map((userEmail) => ({ eventType: 'five', userEmail })),
    );
    expect(statuses(answers)).toEqual({ 200: 100, 500: 200 });
    await expect.poll(() => service.escrowOf(brandIds.thin)).toBe(0n);
  });
});
