/** What the database says no to when a reward is written, whatever was decided before: another process may have been faster. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GrantToRecord, Overtaken, recordGrants } from '../../src/actions/rewards/record-grants.ts';
import { findBrand } from '../../src/ledger/brands/brands.ts';
import { rewardHistory } from '../../src/ledger/rewards/rewards.ts';
import type { Settings } from '../../src/rules/brands/settings.ts';
import { freshKey } from '../kits/databases/databases.ts';
import { openLedger, someBrand, type TestLedger } from './ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** A brand with 25 RWT, and grants of 10 to users of its own under terms that refuse nothing. */
async function grants(settings: Settings = {}) {
  const { db } = ledger.database;
  const brand = await findBrand(db, (await someBrand(ledger, { deposit: 25, ...settings })).brandId);
  if (!brand) throw new Error('no brand');
  const { brandId } = brand;
  const grant = (change: Partial<GrantToRecord> = {}): GrantToRecord => ({
    rewardId: randomUUID(),
    brand,
    eventType: 'visit',
    userKey: `${freshKey('user')}@demo.example`,
    userEmail: undefined,
    userAddress: undefined,
    metadata: {},
    amount: 10,
    claimsBelow: 9,
    lastAtMost: Number.MAX_SAFE_INTEGER,
    maxTotalClaims: 9,
    ...change,
  });
  const record = (...of: GrantToRecord[]) =>
    ledger.database.atomically((tx) => recordGrants(ledger, tx, { grants: of, nowMs: ledger.clock.now() }));
  const rewardsOf = async ({ userKey }: GrantToRecord) =>
    (await rewardHistory(db, { brandId, userKey, limit: 10 })).map(({ amount }) => amount);
  return { grant, record, rewardsOf };
}

test('grants of one commit get their rewards in order, and a user’s new wallet is told of once', async () => {
  const { grant, record } = await grants();
  const first = grant();
  const second = grant({ userKey: first.userKey, eventType: 'signup' });
  const recorded = await record(first, second);
  expect(recorded).toMatchObject([
    { rewardId: first.rewardId, eventType: 'visit', amount: 10, walletCreated: true },
    { rewardId: second.rewardId, eventType: 'signup', amount: 10, walletCreated: false },
  ]);
  expect(recorded[1]?.sequence).toBe((recorded[0]?.sequence ?? 0) + 1);
  expect(recorded[1]?.wallet).toBe(recorded[0]?.wallet);
});

test.each<[string, Settings, (first: GrantToRecord) => Partial<GrantToRecord>]>([
  ['a claim more than the user may have', {}, ({ userKey }) => ({ userKey, claimsBelow: 1 })],
  ['a claim too soon after the last', {}, ({ userKey }) => ({ userKey, lastAtMost: 0 })],
  ['a claim more than all users may have', {}, () => ({ maxTotalClaims: 1 })],
  ['more RWT than the brand has', {}, () => ({ amount: 16 })],
  ['more RWT than the brand spends in a day', { spendPerDay: 15 }, () => ({})],
])('%s: nothing is written', async (_, settings, change) => {
  const { grant, record, rewardsOf } = await grants(settings);
  const first = grant();
  await record(first);
  const refused = grant(change(first));
  const beside = grant({ amount: 1, eventType: 'signup' });
  await expect(record(beside, refused)).rejects.toBeInstanceOf(Overtaken);
  expect(await rewardsOf(beside)).toEqual([]);
  expect(await rewardsOf(first)).toEqual([10]);
  // What was counted before the refusal counts no more.
  expect(await record(beside)).toHaveLength(1);
});
