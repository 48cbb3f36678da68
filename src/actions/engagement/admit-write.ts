/** Who may write what is shown to others: activity, ranks, progress. Nothing that pays rests on such a write. */
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import { isPageOf } from '../../rules/brands/domain.ts';

/** What is known of the caller of a write. */
export interface Writer {
  /** The brand whose key came with the request. */
  keyOf: BrandId | undefined;
  /** The page that sent it, where a browser says so. */
  origin: string | undefined;
}

export type WriteRefusal =
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'brand_key_required'; brandId: string }
  | { code: 'origin_not_allowed'; brandId: string; origin: string };

/** The brand, or why it does not take this write (brand setting `engagementWrites`). `ownHosts`: the service's own. */
export async function admitWrite(
  db: Queries,
  { brandId, writer, ownHosts }: { brandId: BrandId; writer: Writer; ownHosts: readonly string[] },
): Promise<{ brand: Brand; withBrandKey: boolean } | { refusal: WriteRefusal }> {
  const brand = await findBrand(db, brandId);
  if (!brand) return { refusal: { code: 'brand_not_found', brandId } };
  if (writer.keyOf === brandId) return { brand, withBrandKey: true };
  if (brand.profile.engagementWrites === 'credential')
    return { refusal: { code: 'brand_key_required', brandId } };
  const { origin } = writer;
  if (origin !== undefined && !isPageOf(origin, [...brand.profile.domains, ...ownHosts]))
    return { refusal: { code: 'origin_not_allowed', brandId, origin } };
  return { brand, withBrandKey: false };
}
