/** Changes and removes a brand's rules. What is written here decides the very next event. */
import { deleteEventRule, listAllEventRules } from '../../ledger/brands/brand-configuration.ts';
import { saveEventRule } from '../../ledger/brands/brands.ts';
import { takeEarlierOnceClaims } from '../../ledger/rewards/once-claims.ts';
import type { EventRule } from '../../rules/brands/brand.ts';
import { refuseRule } from '../../rules/brands/check-in-events.ts';
import { applyRuleSettings } from '../../rules/brands/rule-settings.ts';
import type { Settings } from '../../rules/brands/settings.ts';
import { invalid, type ManageBrandsDeps, type Outcome, withBrand } from './named-brand.ts';

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
