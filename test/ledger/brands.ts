/** Brands and rules as the ledger stores them, for tests of what hangs on them. */
import type { saveBrand, saveEventRule } from '../../src/ledger/brands/brands.ts';
import { freshAddress } from '../kits/databases/databases.ts';
import { NOW_MS } from './transactions.ts';

type StoredBrand = Parameters<typeof saveBrand>[1];
type StoredRule = Parameters<typeof saveEventRule>[1];

/** A brand with an id of its own and no domain, unless said otherwise. */
export const brandRow = ({
  domains = [],
  ...change
}: Partial<Omit<StoredBrand, 'profile'>> & { domains?: string[] } = {}): StoredBrand => ({
  brandId: freshAddress(),
  name: 'Demo',
  automation: true,
  verificationSecret: 'secret',
  createdAt: NOW_MS,
  profile: { domains, platforms: {}, clientBypass: 'credential', mintTo: 'wallet' },
  ...change,
});

/** An event that anybody may claim again and again. */
export const ruleRow = (
  of: Pick<StoredRule, 'brandId' | 'eventType'> & Partial<Omit<StoredRule, 'detail'>>,
): StoredRule => ({
  position: 0,
  active: true,
  rewardAmount: 1,
  maxClaims: -1,
  maxTotalClaims: -1,
  cooldownMs: 0,
  detail: { eventId: of.eventType, isCustom: false, detectionMethod: 'api', detectionConfig: {} },
  ...of,
});
