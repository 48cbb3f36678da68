/** Brands, rules and keys as the control API shows them. */
import type { NewKey } from '../../actions/brands/brand-keys.ts';
import type { BrandDetail, BrandOverview } from '../../actions/brands/show-brands.ts';
import { shownSettings } from '../../contract/settings-schema.ts';
import type { EventRule } from '../../rules/brands/brand.ts';
import { settingsOfBrand } from '../../rules/brands/brand-settings.ts';
import { maybePaidTwice } from '../../rules/brands/check-in-events.ts';
import { paysWithoutKey } from '../../rules/brands/pays-without-key.ts';
import { settingsOfRule } from '../../rules/brands/rule-settings.ts';
import { brandSpec, ruleSpec } from '../../rules/brands/spec.ts';

const instant = (ms: number) => new Date(ms).toISOString();

export const brandReply = (brand: BrandOverview) => ({
  ...shownSettings(brandSpec, settingsOfBrand(brand)),
  provenDomains: brand.provenDomains,
  createdAt: instant(brand.createdAtMs),
  funds: {
    deposited: brand.deposited,
    promised: brand.promised,
    available: brand.deposited - brand.promised,
  },
});

export const brandDetailReply = (brand: BrandDetail) => ({
  ...brandReply(brand),
  keys: brand.keys.map(({ keyId, createdAtMs, expiresAtMs }) => ({
    keyId,
    createdAt: instant(createdAtMs),
    expiresAt: expiresAtMs === null ? null : instant(expiresAtMs),
  })),
  rules: brand.rules.map(ruleReply),
  warnings: maybePaidTwice(brand.profile, brand.rules),
  paysWithoutKey: paysWithoutKey({ brand, rules: brand.rules }),
  gasWallet: brand.gasWallet,
});

export const ruleReply = (rule: EventRule) => ({
  eventType: rule.eventType,
  ...shownSettings(ruleSpec, settingsOfRule(rule)),
});

export const newKeyReply = ({ keyId, apiKey, othersExpireAtMs }: NewKey) => ({
  keyId,
  apiKey,
  othersExpireAt: othersExpireAtMs === null ? null : instant(othersExpireAtMs),
});
