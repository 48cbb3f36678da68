/** Collections against consent: what no user agreed to and no brand has paid is found, and honest redemptions are none of it. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { keccak256, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VerifyReport } from '../../src/audit/report.ts';
import { devPaths } from '../../src/lib/development.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { perkCall } from '../kits/chain/perks.ts';
import { mintTo, redeemBody, WALLPAPERS } from '../kits/chain/redeeming.ts';
import { type RelayKit, startRelayKit } from '../kits/chain/wallet.ts';
import { someone } from '../kits/service/service.ts';

let kit: RelayKit;
let ledger: SQLite.Database;
beforeAll(async () => {
  kit = await startRelayKit();
  await kit.setPerk(BigInt(WALLPAPERS.tokenId), BigInt(WALLPAPERS.cost));
  const { address } = devAccount({ path: devPaths.admin });
  await perkCall(kit, 'grantRole', [keccak256(toHex('REDEEMER_ROLE')), address]);
  ledger = new SQLite(join(kit.ready.dataDir, 'ledger.sqlite'));
});
afterAll(async () => {
  ledger?.close();
  await kit?.stop();
});

async function verify(): Promise<VerifyReport> {
  return (await kit.request(`${kit.ready.urls.control}/verify`)).body;
}
const ofConsent = ({ differences }: VerifyReport) =>
  differences.filter(({ kind }) => kind.startsWith('redemption'));
const redeem = (user: string, more: object = {}, headers: Record<string, string> = {}) =>
  kit.post('/perks/redeem', { ...redeemBody(kit, user, WALLPAPERS.id), ...more }, headers);

test('what users and brands have agreed to is no difference', async () => {
  const email = someone();
  await kit.event({ userEmail: email });
  const { alice, bob } = kit.users;
  await mintTo(kit, alice.address, 100);
  await mintTo(kit, bob.address, 100);
  const permit = await kit.permit(bob, { spender: kit.contracts.escrow, value: 60n });
  const answers = [
    await redeem(email),
    await redeem(email),
    await redeem(alice.email, {}, { authorization: `Bearer ${alice.token}` }),
    await redeem(bob.email, { permit }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const kept = ledger.prepare(
    'select consent, count(*) as count from redemptions group by consent order by 1',
  );
  expect(kept.all()).toEqual([
    { consent: 'grant', count: 2 },
    { consent: 'permit', count: 1 },
    { consent: 'token', count: 1 },
  ]);
  expect(ofConsent(await verify())).toEqual([]);
});

test('a collection that counts as granted, of a user whom the brand has not paid so much', async () => {
  const wallet = devAccount({ accountIndex: 8 }).address.toLowerCase();
  await mintTo(kit, wallet as `0x${string}`, 500);
  const key = keccak256(toHex('planted'));
  await perkCall(kit, 'redeem', [key, wallet, BigInt(WALLPAPERS.tokenId), 50n]);
  const insert = ledger.prepare(
    `insert into redemptions (id, key, brand_id, perk_id, token_id, user_key, wallet, cost, confirmation_code,
        created_at, consent) values ('planted', ?, ?, ?, 1, ?, ?, 50, 'PLANTED', 0, ?)`,
  );
  const brandId = kit.brand.brandId.toLowerCase();
  insert.run(key, brandId, WALLPAPERS.id, wallet, wallet, 'grant');
  try {
    expect(ofConsent(await verify())).toEqual([
      {
        kind: 'redemption_without_consent',
        message: expect.any(String),
        about: { brandId, wallet },
        expected: '0 RWT at most',
        found: '50 RWT',
      },
    ]);
    // As one from before anybody was asked it is no difference, and a person is told of it.
    ledger.exec("update redemptions set consent = 'unasked' where id = 'planted'");
    const old = await verify();
    expect(ofConsent(old)).toEqual([]);
    expect(old.flagged).toMatchObject([{ kind: 'collected_unasked', about: { brandId, wallet } }]);
    // A permit would have been spent.
    ledger.exec("update redemptions set consent = 'permit' where id = 'planted'");
    // Its block may still have to be read.
    await expect
      .poll(async () => ofConsent(await verify()))
      .toMatchObject([{ kind: 'redemption_without_consent', about: { redemption: 'planted' } }]);
  } finally {
    ledger.exec("delete from redemptions where id = 'planted'");
  }
});
