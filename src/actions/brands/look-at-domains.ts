/** Looks by itself, from time to time, whether the domains that brands proved by DNS still have their records. */
import { everyProvenDomain } from '../../ledger/brands/brand-domains.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';

interface LookDeps {
  database: Database;
  /** `verify-dns.ts` with its deps bound; rejects when DNS gives no answer. */
  verifyDns: (domain: string) => Promise<unknown>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

interface LookSettings {
  /** Between two looks at all domains, by the service's clock. */
  lookEveryMs: number;
  /** The same when DNS gave no answer for some. */
  retryMs: number;
  /** How often the clock is looked at, in real time. */
  pollMs: number;
}

/** A loop that looks at one domain after the other. Replicas may all look: the misses of one time count once. */
export function createDomainLooks(
  { database, verifyDns, clock, log }: LookDeps,
  { lookEveryMs, retryMs, pollMs }: LookSettings,
) {
  let nextMs = Number.NEGATIVE_INFINITY;
  return createLoop({
    name: 'domain looks',
    async turn(signal) {
      const nowMs = clock.now();
      if (nowMs < nextMs) return 'idle';
      const domains = await everyProvenDomain(database.db);
      let unanswered = 0;
      for (const domain of domains) {
        if (signal.aborted) return 'idle';
        await verifyDns(domain).catch(() => {
          unanswered += 1;
        });
      }
      if (unanswered > 0)
        log.warn({ domains: domains.length, unanswered }, 'DNS gave no answer for domains of brands');
      nextMs = nowMs + (unanswered > 0 ? retryMs : lookEveryMs);
      return 'idle';
    },
    pauseMs: () => pollMs,
    log,
  });
}
