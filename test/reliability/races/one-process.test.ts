/** Limits under a crowd, one process, on each database. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases.ts';
import { startTestService, type TestService } from '../../kits/service.ts';
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

  test('funds for 100 rewards pay 100 of 300 at once, and the escrow is empty', async () => {
    const answers = await rush(
      [service],
      people(300, 'thin').map((userEmail) => ({ eventType: 'five', userEmail })),
    );
    expect(statuses(answers)).toEqual({ 200: 100, 500: 200 });
    await expect.poll(() => service.escrowOf(brandIds.thin)).toBe(0n);
  });
});
