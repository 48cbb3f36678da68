/** A brand and an event of one of its users, for tests of the rules. */
import type { Brand, BrandProfile } from '../../src/rules/brands/brand.ts';
import type { EventSubmission } from '../../src/rules/events/submission.ts';

export const brandId = `0x${'ab'.repeat(20)}` as const;

/** A brand with one domain, whose clients need its key to skip a cooldown. */
export const brandWith = (profile: Partial<BrandProfile> = {}, automation = true): Brand => ({
  brandId,
  name: 'Shop',
  automation,
  profile: {
    domains: ['shop.example'],
    platforms: {},
    clientBypass: 'credential',
    mintTo: 'wallet',
    ...profile,
  },
});

/** Alice's visit, sent from the brand's page. */
export const visitWith = (change: Partial<EventSubmission> = {}): EventSubmission => ({
  brandId,
  eventType: 'visit',
  userKey: 'alice@demo.example',
  userEmail: 'alice@demo.example',
  userAddress: undefined,
  channel: undefined,
  skipCooldown: false,
  metadata: {},
  withBrandKey: false,
  domain: 'shop.example',
  ...change,
});
