/** Pregeneration under a crowd from two processes' worth of connections: one wallet each, never an index twice. */
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { expect, test } from 'vitest';
import { pregenerateWallet } from '../../src/actions/wallets/pregenerate-wallet.ts';
import { derivedWallets } from '../../src/identity/derived.ts';
import { saveBrand } from '../../src/ledger/brands/brands.ts';
import { atMs, type Database } from '../../src/ledger/database/database.ts';
import { wallets } from '../../src/ledger/schema/wallets.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import type { Registration } from '../../src/rules/registration.ts';
import { onEveryDatabase } from '../kits/databases/databases.ts';
import { brandRow } from './brands.ts';

const phrase = 'test test test test test test test test test test test junk';
const tree = derivedWallets(
  HDKey.fromMasterSeed(mnemonicToSeedSync(phrase)).derive("m/44'/60'/1'/0").publicExtendedKey,
);
const NOW_MS = 1_800_000_000_000;
const clock = { now: () => NOW_MS };

onEveryDatabase(
  ({ kit }) => {
    const deps = (database: Database) => ({
      database,
      businessTime: () => atMs(NOW_MS),
      random: secureRandom(clock),
      addressAt: tree.addressAt,
      limit: { limit: 100, windowMs: 60_000 },
      ownHosts: [],
    });
    const brand = async (digit: string) => {
      const brandId = `0x${digit.repeat(40)}` as const;
      await saveBrand(kit().database.db, brandRow({ brandId, domains: [`${digit}.example`] }));
      return brandId;
    };
    const identity = (brandId: Registration['brandId'], id: string): Registration => ({
      brandId,
      provider: 'discord',
      providerUserId: id,
      username: 'x',
      userKey: `discord_${id}@own.example`,
    });
    /** Every call through the next of the two. */
    const rush = (registrations: Registration[]) =>
      Promise.all(
        registrations.map((registration, n) =>
          pregenerateWallet(deps(n % 2 ? kit().other : kit().database), { registration, keyOf: undefined }),
        ),
      );

    test('200 of one identity: one wallet, created once, counted once', async () => {
      const brandId = await brand('1');
      const outcomes = await rush(Array(200).fill(identity(brandId, '11111111111111111')));
      const made = outcomes.flatMap((outcome) => ('refusal' in outcome ? [] : [outcome]));
      expect(made).toHaveLength(200);
      expect(new Set(made.map(({ walletAddress }) => walletAddress)).size).toBe(1);
      expect(new Set(made.map(({ idpUserId }) => idpUserId)).size).toBe(1);
      expect(made.filter(({ createdNew }) => createdNew)).toHaveLength(1);
      expect(made.find(({ createdNew }) => createdNew)?.window?.remaining).toBe(99);
    });

    test('150 identities, each twice: exactly 100 wallets, each made once', async () => {
      const brandId = await brand('2');
      const people = Array.from({ length: 150 }, (_, n) =>
        identity(brandId, `2222222222222${String(n).padStart(4, '0')}`),
      );
      const outcomes = await rush(people.flatMap((one) => [one, one]));
      const made = outcomes.flatMap((outcome) => ('refusal' in outcome ? [] : [outcome]));
      expect(made.filter(({ createdNew }) => createdNew)).toHaveLength(100);
      expect(new Set(made.map(({ walletAddress }) => walletAddress)).size).toBe(100);
      const refusals = outcomes.flatMap((outcome) => ('refusal' in outcome ? [outcome.refusal.code] : []));
      expect(new Set(refusals)).toEqual(new Set(['rate_limit_exceeded']));
      // What was refused has left nothing behind, and each place of the key tree is one wallet.
      const rows = await kit().database.db.select().from(wallets);
      expect(rows).toHaveLength(101);
      expect(new Set(rows.map(({ derivationIndex }) => derivationIndex)).size).toBe(101);
      for (const { address, derivationIndex } of rows)
        expect(address).toBe(tree.addressAt(derivationIndex ?? -1));
    });
  },
  { kinds: ['SQLite file', 'Postgres'] },
);
