/** Brands, rules and keys as the control API shows them. */
import type { BrandDetail, BrandOverview, NewKey } from '../../actions/brands/manage-brands.ts';
import { type EventRule, isUnlimited, UNLIMITED } from '../../rules/brands/brand.ts';

const instant = (ms: number) => new Date(ms).toISOString();
const limit = (value: number) => (isUnlimited(value) ? UNLIMITED : value);

export function brandReply(brand: BrandOverview) {
  const { brandId, name, automation, profile, provenDomains, createdAtMs, deposited, promised } = brand;
  const { domains, platforms, clientBypass, mintTo, eventNameMapping = {} } = profile;
  const { pregenerate = 'open', gasBudget = null } = profile;
  return {
    brandId,
    name,
    automation,
    domains,
    provenDomains,
    platforms,
    clientBypass,
    mintTo,
    pregenerate,
    gasBudget,
    eventNameMapping,
    createdAt: instant(createdAtMs),
    funds: { deposited, promised, available: deposited - promised },
  };
}

export const brandDetailReply = (brand: BrandDetail) => ({
  ...brandReply(brand),
  keys: brand.keys.map(({ keyId, createdAtMs, expiresAtMs }) => ({
    keyId,
    createdAt: instant(createdAtMs),
    expiresAt: expiresAtMs === null ? null : instant(expiresAtMs),
  })),
  rules: brand.rules.map(ruleReply),
  gasWallet: brand.gasWallet,
});

export function ruleReply(rule: EventRule) {
  const { eventType, active, rewardAmount, maxClaims, maxTotalClaims, cooldownMs, detail } = rule;
  const { detectionMethod, detectionConfig, dynamic = {} } = detail;
  return {
    eventType,
    active,
    reward: rewardAmount,
    maxClaims: limit(maxClaims),
    maxTotalClaims: limit(maxTotalClaims),
    cooldownMs,
    channels: detectionConfig.channels ?? [],
    perUsd: dynamic.perUsd ?? null,
    maxReward: dynamic.maxReward ?? null,
    multiplier: dynamic.multiplier ?? 'none',
    method: detectionMethod,
    urlPatterns: detectionConfig.urlPatterns ?? [],
    successSelectors: detectionConfig.successSelectors ?? [],
  };
}

export const newKeyReply = ({ keyId, apiKey, othersExpireAtMs }: NewKey) => ({
  keyId,
  apiKey,
  othersExpireAt: othersExpireAtMs === null ? null : instant(othersExpireAtMs),
});
