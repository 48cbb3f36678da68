/** Planted bugs of webhooks: clocks of machines in place of the ledger's, and leases of processes that are gone. */
import { atMs } from '../../../src/ledger/database/database.ts';
import type { Plan } from '../simulation/plan.ts';
import { only, replacing } from './breakages.ts';
import type { Mutant } from './parts.ts';

const HOURS_MS = 3 * 3_600_000;
const wrongClocks: Partial<Plan> = {
  webhooks: 5,
  webhookFailures: 0.6,
  steps: 40,
  replicas: 2,
  skewMs: [HOURS_MS, -HOURS_MS],
  perks: { redemptions: 0, stock: 1_000, held: 1_000, others: false, manners: new Map(), unasked: 0 },
};

export const webhookBugs: Mutant[] = [
  {
    // Due by the clock of the machine, and tried again by it.
    name: 'webhooks-by-own-clock',
    circumstances: wrongClocks,
    wire: ({ clock }) => ({ webhookTime: () => atMs(clock.now()) }),
  },
  {
    // What a process had under way that is gone stays its own for ever.
    name: 'webhook-lease-of-the-dead',
    circumstances: wrongClocks,
    rewrite: (text) =>
      text.replace(
        /"webhook_deliveries"\."lease_until" <= now_ms\(\)/g,
        '"webhook_deliveries"."lease_until" <= 0',
      ),
  },
  {
    // Another process takes a delivery that one is at.
    name: 'webhook-lease-not-asked',
    circumstances: wrongClocks,
    rewrite: (text) =>
      text.replace(/"webhook_deliveries"\."lease_until" (?:<=|>) now_ms\(\)/g, (one) =>
        one.includes('<=') ? '1 = 1' : '1 = 0',
      ),
  },
  {
    // A failure makes the next attempt due at once.
    name: 'webhook-attempts-burnt',
    circumstances: wrongClocks,
    rewrite: only(
      /^update "webhook_deliveries" set .*shown/s,
      replacing('coalesce(shown.next_attempt_at, ', 'coalesce(shown.next_attempt_at * 0, '),
    ),
  },
];
