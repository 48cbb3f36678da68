/** No reward goes to the service itself: not to its accounts, its contracts, a brand's gas wallet, or the zero address. */
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { zeroAddress } from 'viem';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keyTree } from '../../../src/chain/lane/local-key.ts';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { wallets } from '../../../src/ledger/schema/wallets.ts';
import { DEV_GAS_WALLETS_PATH, DEV_MNEMONIC, devPaths } from '../../../src/lib/development.ts';
import { databaseKinds, freshAddress } from '../../kits/databases/databases.ts';
import { someone } from '../../kits/service/service.ts';
import { bearer, onEachDatabase, shop, startContractService } from '../kit.ts';

const tree = keyTree(DEV_MNEMONIC);
const accounts = Object.entries(devPaths).map(([duty, path]) => [
  `${duty} account`,
  tree.signerAt(path).address,
]);
const gasWallet = tree.signerAt(`${DEV_GAS_WALLETS_PATH}/0`).address;

onEachDatabase('a reward to the service itself', (get) => {
  const pay = (userIdentifier: string, headers?: Record<string, string>) =>
    get().send(shop, { userEmail: undefined, eventType: 'endless', userIdentifier }, headers);
  const contract = (name: 'token' | 'escrow' | 'perks' | 'pointsSale') => () => get().ready.contracts[name];

  test.each<[string, () => string]>([
    ...accounts.map(([name = '', address = '']): [string, () => string] => [name, () => address]),
    ['the gas wallet of a brand', () => gasWallet],
    ['token', contract('token')],
    ['escrow', contract('escrow')],
    ['perks', contract('perks')],
    ['points sale', contract('pointsSale')],
    ['the zero address', () => zeroAddress],
  ])('%s: 400, in any case, in bulk, and with the key of the brand', async (_, addressOf) => {
    const address = addressOf();
    const spellings = [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`];
    for (const spelling of spellings) {
      for (const headers of [{}, bearer(shop)]) {
        const { status, body } = await pay(spelling, headers);
        expect([status, body.details.errors]).toEqual([
          400,
          [
            'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address',
          ],
        ]);
      }
    }
    const item = (userIdentifier: string) => ({
      brandId: shop.brandId,
      domain: shop.domain,
      eventType: 'endless',
      userIdentifier,
    });
    const { results } = (await get().bulk([item(address), item(freshAddress())])).body;
    expect(results.map(({ status }: { status: unknown }) => status)).toEqual([
      'invalid_event_data',
      'rewarded',
    ]);
    const paid = [...(await get().payouts()).keys()].map((one) => one.toLowerCase());
    expect(paid).not.toContain(address.toLowerCase());
  });
});

describe.each(databaseKinds)('an e-mail whose wallet is the service itself (on $kind)', ({ open }) => {
  test('400, though no address is named', async () => {
    const { databaseUrl, stop } = await open();
    onTestFinished(stop);
    const service = await startContractService({ databaseUrl });
    onTestFinished(service.stop);
    const userEmail = someone();
    const send = () => service.send(shop, { userEmail, eventType: 'endless' });
    expect((await send()).status).toBe(200);
    // As where a wallet was taken for a duty of the service after its user had it.
    const ledger = databaseUrl
      ? openPostgres(databaseUrl)
      : openSqlite(join(service.ready.dataDir, 'ledger.sqlite'));
    const address = tree.signerAt(devPaths.payout).address;
    await ledger.db.update(wallets).set({ address }).where(eq(wallets.userKey, userEmail));
    await ledger.close();
    await service.advance('1h');
    const { status, body } = await send();
    expect([status, body.details.errors]).toEqual([
      400,
      [
        'userIdentifier: must be an account of a user, not one of the service or its contracts, nor the zero address',
      ],
    ]);
  });
});
