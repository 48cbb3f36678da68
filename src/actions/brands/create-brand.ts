/** Creates a brand. What is written here decides the very next event. */
import { findConfiguredBrand } from '../../ledger/brands/brand-configuration.ts';
import { addBrand } from '../../ledger/brands/brands.ts';
import { newBrand } from '../../rules/brands/brand-settings.ts';
import type { Settings } from '../../rules/brands/settings.ts';
import { domainProblems, invalid, lookingAgain, type ManageBrandsDeps, type Outcome } from './named-brand.ts';
import { addKey, type NewKey } from './rotate-key.ts';
import { type BrandDetail, detail } from './show-brands.ts';

/** Creates a brand with its first key. Contract: Authentication (API key). */
export async function createBrand(
  deps: ManageBrandsDeps,
  settings: Settings,
): Promise<Outcome<BrandDetail & NewKey>> {
  const made = newBrand(settings, deps.defaultsFor);
  if ('problems' in made) return invalid(made.problems);
  const { brand } = made;
  const nowMs = deps.clock.now();
  return lookingAgain(deps, async (tx) => {
    const { brandId } = brand;
    if (await findConfiguredBrand(tx, brandId)) return { refusal: { code: 'brand_exists', brandId } };
    const problems = await domainProblems(deps, tx, brand);
    if (problems.length > 0) return invalid(problems);
    const verificationSecret = Buffer.from(deps.random.bytes(32)).toString('base64url');
    const stored = { ...brand, verificationSecret, createdAt: nowMs };
    await addBrand(tx, stored);
    const key = await addKey(deps, tx, { brandId, nowMs });
    return { ...(await detail(tx, stored)), ...key, othersExpireAtMs: null };
  });
}
