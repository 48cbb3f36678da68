/** Tells of each brand of a ledger what it pays to callers without its key, and whether anything limits that. */
import { areBoundedBySpending, paysWithoutKey } from '../../rules/brands/pays-without-key.ts';
import type { SeededBrand } from '../../rules/brands/seed-changes.ts';
import { spendLimits } from '../../rules/events/spend-limit.ts';
import type { Observation } from './observation.ts';

const check = 'keyless';

/** A problem only where no spend limit bounds it: public pages have no key, so paying without one is usual. */
export function lookAtKeyless(brands: readonly SeededBrand[]): Observation[] {
  const found = brands.flatMap(({ brand, rules }): Observation[] => {
    const payments = paysWithoutKey({ brand, rules });
    if (payments.length === 0) return [];
    const limits = spendLimits(brand.profile).map(
      ({ span, limit }) => `${limit} RWT in a${span === 'hour' ? 'n' : ''} ${span}`,
    );
    const ways = payments.map(({ pays, text, closedBy }) => `${pays} to ${text} (${closedBy} ends it)`);
    const isBounded = areBoundedBySpending(payments);
    const paidBefore = 'only what it has paid its users before';
    const ofLimits = limits.length === 0 ? 'without a spend limit' : `at most ${limits.join(' and ')}`;
    const most = isBounded ? ofLimits : paidBefore;
    const message = `${brand.name} pays without a key, ${most}: ${ways.join('; ')}`;
    if (limits.length > 0 || !isBounded) return [{ check, message }];
    return [
      {
        check,
        message,
        fix: `run \`rewards brand set ${brand.brandId} spendPerHour=1000\`, or what its busiest hour needs`,
      },
    ];
  });
  return found.length > 0 ? found : [{ check, message: 'no brand pays callers without its key' }];
}
