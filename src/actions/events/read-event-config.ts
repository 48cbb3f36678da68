/** The active events of a brand, as client scripts and pages need them (contract: GET event-config). */
import { findBrand, listEventRules } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Brand, BrandId, EventRule } from '../../rules/brands/brand.ts';

export interface EventConfig {
  brand: Brand;
  rules: EventRule[];
}

/** Undefined when the brand does not exist. */
export async function readEventConfig(
  deps: { database: Database },
  brandId: BrandId,
): Promise<EventConfig | undefined> {
  const brand = await findBrand(deps.database.db, brandId);
  return brand && { brand, rules: await listEventRules(deps.database.db, brandId) };
}
