/** Creates brands, and changes their settings and the rules of their events. */
import {
  deleteEventRule,
  findConfiguredBrand,
  listAllEventRules,
} from '../../ledger/brands/brand-configuration.ts';
import { addBrand, listEventRules, saveBrand, saveEventRule } from '../../ledger/brands/brands.ts';
import { takeEarlierOnceClaims } from '../../ledger/rewards/once-claims.ts';
import type { EventRule } from '../../rules/brands/brand.ts';
import { applyBrandSettings, newBrand } from '../../rules/brands/brand-settings.ts';
import { changesWhoPays, paidTwice, refuseRule } from '../../rules/brands/check-in-events.ts';
import { applyRuleSettings } from '../../rules/brands/rule-settings.ts';
import type { Settings } from '../../rules/brands/settings.ts';
import { addKey, type NewKey } from './brand-keys.ts';
import {
  domainProblems,
  invalid,
  lookingAgain,
  type ManageBrandsDeps,
  type Outcome,
  withBrand,
} from './named-brand.ts';
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
    return { ...(await detail(tx, stored, nowMs)), ...key, othersExpireAtMs: null };
  });
}

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
      return detail(tx, brand, deps.clock.now());
    }),
  );
}

// Changes and removes a brand's rules. What is written here decides the very next event.

/** Changes an event's rule, or adds one at the end of the brand's list. */
export async function changeRule(
  deps: ManageBrandsDeps,
  of: { name: string; eventType: string },
  settings: Settings,
): Promise<Outcome<EventRule>> {
  const { name, eventType } = of;
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId, profile }) => {
      const rules = await listAllEventRules(tx, brandId);
      const before = rules.find((rule) => rule.eventType === eventType);
      const changed = applyRuleSettings({ brandId, eventType, before }, settings);
      if ('problems' in changed) return invalid(changed.problems);
      const refused = refuseRule(profile, changed.rule);
      if (refused) return invalid([refused]);
      const position = before?.position ?? (rules.at(-1)?.position ?? -1) + 1;
      await saveEventRule(tx, { ...changed.rule, position });
      const field = changed.rule.detail.oncePer;
      if (field !== undefined && field !== before?.detail.oncePer)
        await takeEarlierOnceClaims(tx, { brandId, eventType, field, nowMs: deps.clock.now() });
      return changed.rule;
    }),
  );
}

export async function removeRule(
  deps: ManageBrandsDeps,
  of: { name: string; eventType: string },
): Promise<Outcome<{ removed: string }>> {
  const { name, eventType } = of;
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId }): Promise<Outcome<{ removed: string }>> => {
      if (await deleteEventRule(tx, { brandId, eventType })) return { removed: eventType };
      return { refusal: { code: 'rule_not_found', eventType, brandId } };
    }),
  );
}
