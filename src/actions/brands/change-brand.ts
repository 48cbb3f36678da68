/** Changes a brand. What is written here decides the very next event. */
import { listEventRules, saveBrand } from '../../ledger/brands/brands.ts';
import { applyBrandSettings } from '../../rules/brands/brand-settings.ts';
import { changesWhoPays, paidTwice } from '../../rules/brands/check-in-events.ts';
import type { Settings } from '../../rules/brands/settings.ts';
import {
  domainProblems,
  invalid,
  lookingAgain,
  type ManageBrandsDeps,
  type Outcome,
  withBrand,
} from './named-brand.ts';
import { type BrandDetail, detail } from './show-brands.ts';

/** Applies settings; the rest of the brand stays. */
export async function changeBrand(
  deps: ManageBrandsDeps,
  name: string,
  settings: Settings,
): Promise<Outcome<BrandDetail>> {
  return lookingAgain(deps, (tx) =>
    withBrand(tx, name, async (before) => {
      const changed = applyBrandSettings(before, settings);
      if ('problems' in changed) return invalid(changed.problems);
      const brand = { ...before, ...changed.brand };
      const problems = await domainProblems(deps, tx, brand);
      if (changesWhoPays(settings)) {
        const rules = await listEventRules(tx, brand.brandId);
        const paying = rules.map(({ eventType }) => eventType);
        problems.push(...paidTwice(brand.profile, paying));
      }
      if (problems.length > 0) return invalid(problems);
      await saveBrand(tx, brand);
      return detail(tx, brand);
    }),
  );
}
