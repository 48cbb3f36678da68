/** What a brand offers for RWT, and how many of each can still be had. */
import type { PerkContract } from '../../chain/contracts/calls/perk-calls.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { listPerks as perksOf, type StoredPerk } from '../../ledger/perks/perks.ts';
import { takenOf } from '../../ledger/perks/redemptions.ts';
import { newestFollowed } from '../../ledger/transactions/backlog.ts';
import { type BrandId, isUnlimited } from '../../rules/brands/brand.ts';
import { availableOf, type PerkCategory } from '../../rules/perks/perk.ts';

export interface ListPerksDeps {
  database: Database;
  /** Its answers may be as old as a block. */
  perks: PerkContract;
}

export interface WantedPerks {
  brandId: BrandId;
  category: PerkCategory | undefined;
  activeOnly: boolean;
  /** Whose perks are counted as well. */
  userAddress: `0x${string}` | undefined;
}

export interface OfferedPerk extends StoredPerk {
  /** How many can still be had; 999999 where there is no limit. */
  available: number;
  /** How many `userAddress` holds; undefined without one. */
  held: number | undefined;
}

/** In the order of their tokens. Undefined when the brand does not exist. */
export async function listPerks(
  { database: { db }, perks }: ListPerksDeps,
  { brandId, category, activeOnly, userAddress }: WantedPerks,
): Promise<OfferedPerk[] | undefined> {
  if (!(await findBrand(db, brandId))) return undefined;
  const wanted = (await perksOf(db, brandId)).filter(
    (perk) => (perk.active || !activeOnly) && (category === undefined || perk.category === category),
  );
  // Nothing is counted of a stock without limit, so the chain need not be asked.
  const isCounted = (perk: StoredPerk) => perk.active && !isUnlimited(perk.stock);
  const tokenIds = wanted.filter(isCounted).map(({ tokenId }) => tokenId);
  const underWay =
    tokenIds.length > 0
      ? await takenOf(db, { tokenIds, block: (await newestFollowed(db)) ?? 0 })
      : new Map<number, number>();
  return Promise.all(
    wanted.map(async (perk) => {
      const asks = isCounted(perk);
      const [left, held] = await Promise.all([
        asks ? perks.stockOf(perk.tokenId) : perk.stock,
        userAddress && perks.heldBy(userAddress, perk.tokenId),
      ]);
      const taken = underWay.get(perk.tokenId) ?? 0;
      const unsold = asks ? Math.max(0, left - taken) : left;
      return { ...perk, available: availableOf({ active: perk.active, left: unsold }), held };
    }),
  );
}
