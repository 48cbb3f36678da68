/** Forgets what a constraint's URL has said about buyers (contract: Cache invalidation request). */
import { invalidateUrl } from '../../ledger/constraint-results.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export interface WantedInvalidation {
  brandId: BrandId;
  /** In the form of `constraintUrlKey`. */
  url: string;
  /** Lower case; absent: every user. */
  userAddress?: `0x${string}` | undefined;
  /** The perk's id on chain; absent: every perk. */
  collectionId?: number | undefined;
}

/** How many results counted until now; answers that are under way will not be kept. */
export const invalidateResults = (
  { database, businessTime }: { database: Database; businessTime: BusinessTime },
  wanted: WantedInvalidation,
): Promise<number> => database.atomically((tx) => invalidateUrl(tx, { ...wanted, now: businessTime() }));
