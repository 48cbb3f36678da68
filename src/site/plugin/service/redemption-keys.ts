/** The idempotency keys of redemptions whose outcome the site does not know yet, so that trying again pays once. */
import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/ids.ts';
import { siteSettings } from '../../config.ts';
import type { SiteStore } from '../../store/open-store.ts';

export function createRedemptionKeys(deps: { store: SiteStore; clock: Clock; random: Random }) {
  const { store, clock, random } = deps;
  const forgetOld = store.prepare<[number]>('delete from redemption_keys where at <= ?');
  // A user who presses twice goes on with the key of the first time.
  const take = store.prepare<[string, string, string, number], { key: string }>(
    `insert into redemption_keys (email, perk_id, key, at) values (?, ?, ?, ?)
     on conflict (email, perk_id) do update set at = at returning key`,
  );
  const forget = store.prepare<[string, string, string]>(
    'delete from redemption_keys where email = ? and perk_id = ? and key = ?',
  );
  return {
    /** Kept before the service is asked, and until its answer is known. */
    keyFor(email: string, perkId: string): string {
      forgetOld.run(clock.now() - siteSettings.redemptionKeyMs);
      const kept = take.get(email, perkId, `site-${random.uuid()}`, clock.now());
      if (!kept) throw new Error('the store gave no key for a redemption');
      return kept.key;
    },
    /** The service has said yes or no: the next redemption of this perk is a new one. */
    settled: (email: string, perkId: string, key: string): void => void forget.run(email, perkId, key),
  };
}
