/** A daily visit is sent at most once in 24 hours for each user. Contract: What the service does. */
import type { Clock } from '../../lib/clock.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';

export function createDailyVisits({ store, clock }: { store: SiteStore; clock: Clock }) {
  const read = store.prepare<[string, string], { at: number }>(
    'select at from daily_visits where email = ? and event_name = ?',
  );
  // The last condition is for a clock that was set back: a visit that lies ahead holds no user up.
  const take = store.prepare<{ email: string; eventName: string; now: number; before: number }>(
    `insert into daily_visits (email, event_name, at) values (:email, :eventName, :now)
     on conflict (email, event_name) do update set at = excluded.at where at <= :before or at > :now`,
  );
  const put = store.prepare<[number, string, string, number]>(
    'update daily_visits set at = ? where email = ? and event_name = ? and at = ?',
  );
  const remove = store.prepare<[string, string, number]>(
    'delete from daily_visits where email = ? and event_name = ? and at = ?',
  );
  return {
    /**
     * Takes the day before the call is made, so that two pages at once send one event. Undefined: it is taken; else the
     * way to give it back when the call failed.
     */
    claim(email: string, eventName: string): { giveBack(): void } | undefined {
      const now = clock.now();
      const earlier = read.get(email, eventName)?.at;
      const taken = take.run({ email, eventName, now, before: now - siteSettings.dailyVisitMs });
      if (taken.changes === 0) return undefined;
      return {
        giveBack() {
          if (earlier === undefined) remove.run(email, eventName, now);
          else put.run(earlier, email, eventName, now);
        },
      };
    },
  };
}
