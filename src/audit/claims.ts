/** Counters of claims against the rewards that they count. */
import { auditedCounters, auditedTotal, type ClaimPlace, everyTotal } from '../ledger/audit-pages.ts';
import { eventKeyText } from '../ledger/rewards/claims.ts';
import type { Audit } from './audit.ts';

const COUNTERS_PER_PAGE = 500;

export async function verifyClaims(audit: Audit): Promise<void> {
  const { database, findings } = audit;
  const counted = new Map<string, number>();
  let after: ClaimPlace | undefined;
  while (!audit.stopped()) {
    const page = await auditedCounters(database.db, { after, limit: COUNTERS_PER_PAGE });
    for (const counter of page) {
      findings.checked.counters += 1;
      const { brandId, eventType, userKey, claims, rewards } = counter;
      counted.set(eventKeyText(counter), (counted.get(eventKeyText(counter)) ?? 0) + claims);
      if (claims === rewards) continue;
      findings.add('claim_counter', {
        message: `a counter of ${eventType} says ${claims} claims, but there are ${rewards} rewards`,
        about: { brandId, eventType, userKey },
        expected: rewards,
        found: claims,
      });
    }
    after = page.at(-1);
    if (page.length < COUNTERS_PER_PAGE) break;
  }
  for (const { brandId, eventType, claims } of audit.stopped() ? [] : await everyTotal(database.db)) {
    const key = eventKeyText({ brandId, eventType });
    const sum = counted.get(key) ?? 0;
    counted.delete(key);
    if (sum === claims) continue;
    // Events may have come in while the counters were read: one statement that reads both decides.
    const now = await auditedTotal(database.db, { brandId, eventType });
    if (!now || now.claims === now.counted) continue;
    findings.add('claim_total', {
      message: `${eventType} says ${now.claims} claims in all, its counters add up to ${now.counted}`,
      about: { brandId, eventType },
      expected: now.counted,
      found: now.claims,
    });
  }
}
