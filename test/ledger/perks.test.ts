/** The catalogue of perks, as both databases keep it. */
import { expect, test } from 'vitest';
import {
  addPerk,
  findPerk,
  findPerkByToken,
  listPerks,
  perksInTheWay,
  type StoredPerk,
} from '../../src/ledger/perks/perks.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

let tokens = 0;
const somePerk = (change: Partial<StoredPerk> = {}): StoredPerk => ({
  id: freshKey('perk'),
  brandId: freshAddress(),
  tokenId: ++tokens,
  name: 'Mug',
  description: '',
  category: 'physical',
  cost: 600,
  stock: 2,
  image: null,
  metadata: { size: 'M' },
  active: true,
  constraints: [],
  createdAt: 1_700_000_000_000,
  ...change,
});

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;

  test('a perk is found by its id in its own brand, and by its token', async () => {
    const perk = somePerk();
    expect(await addPerk(db(), perk)).toBe(true);
    const of = { brandId: perk.brandId, perkId: perk.id };
    expect(await findPerk(db(), of)).toEqual(perk);
    expect(await findPerk(db(), { ...of, perkId: perk.id.toUpperCase() })).toEqual(perk);
    expect(await findPerk(db(), { ...of, brandId: freshAddress() })).toBeUndefined();
    expect(await findPerkByToken(db(), perk.tokenId)).toEqual(perk);
    expect(await findPerkByToken(db(), 999_999)).toBeUndefined();
  });

  test('a token is one perk, in all brands, and an id too', async () => {
    const perk = somePerk();
    await addPerk(db(), perk);
    const [sameToken, sameId] = [somePerk({ tokenId: perk.tokenId }), somePerk({ id: perk.id })];
    expect(await addPerk(db(), sameToken)).toBe(false);
    expect(await addPerk(db(), sameId)).toBe(false);
    expect(await perksInTheWay(db(), [sameToken])).toEqual([perk]);
    expect(await perksInTheWay(db(), [sameId])).toEqual([perk]);
  });

  test('a brand lists its perks in the order of their tokens', async () => {
    const brandId = freshAddress();
    const [first, second] = [somePerk({ brandId }), somePerk({ brandId, active: false })];
    for (const perk of [second, somePerk(), first]) await addPerk(db(), perk);
    expect(await listPerks(db(), brandId)).toEqual([first, second]);
  });
});
