/** Slows down guessing: after some failures, each next try of an account or from an address has to wait, longer each time. */
import type { Clock } from '../../lib/clock.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';

interface Row {
  failures: number;
  last_at: number;
  wait_until: number;
}

export type LoginGate = ReturnType<typeof createLoginGate>;

/**
 * A try counts as failed from its beginning, so that a thousand at once are no way around the waits; a right password
 * takes its try back. `keys`: the account, and the address where it is known.
 */
export function createLoginGate({ store, clock }: { store: SiteStore; clock: Clock }) {
  const read = store.prepare<[string], Row>(
    'select failures, last_at, wait_until from login_failures where key = ?',
  );
  const write = store.prepare<[string, number, number, number]>(
    `insert into login_failures (key, failures, last_at, wait_until) values (?, ?, ?, ?)
     on conflict (key) do update set failures = excluded.failures, last_at = excluded.last_at, wait_until = excluded.wait_until`,
  );
  const forget = store.prepare<[string]>('delete from login_failures where key = ?');
  const forgetOld = store.prepare<[number]>('delete from login_failures where last_at < ?');
  const current = (key: string) => {
    const row = read.get(key);
    return row && row.last_at > clock.now() - siteSettings.loginFailuresKeptMs ? row : undefined;
  };
  /** A clock that was set back makes no wait longer than the longest. */
  const waitMs = (keys: string[]) => {
    const waits = keys.map((key) => (current(key)?.wait_until ?? 0) - clock.now());
    const longest = Math.max(0, ...waits);
    return longest > siteSettings.loginWaitMaxMs ? 0 : longest;
  };
  const count = store.transaction((keys: string[]) => {
    forgetOld.run(clock.now() - siteSettings.loginFailuresKeptMs);
    for (const key of keys) {
      const failures = (current(key)?.failures ?? 0) + 1;
      write.run(key, failures, clock.now(), clock.now() + waitAfter(failures));
    }
  });
  return {
    /** Milliseconds until the next try; 0: it may come now, and counts as failed until `passed`. */
    enter(keys: string[]): number {
      const wait = waitMs(keys);
      if (wait === 0) count(keys);
      return wait;
    },
    /** The password was right: the account starts afresh, the address loses this one try. */
    passed(accountKey: string, keys: string[]): void {
      forget.run(accountKey);
      for (const key of keys.filter((other) => other !== accountKey)) {
        const failures = (current(key)?.failures ?? 1) - 1;
        if (failures === 0) forget.run(key);
        else write.run(key, failures, clock.now(), 0);
      }
    },
  };
}

const { loginFailuresFree, loginWaitMs, loginWaitMaxMs } = siteSettings;
const waitAfter = (failures: number): number =>
  failures < loginFailuresFree
    ? 0
    : Math.min(loginWaitMaxMs, loginWaitMs * 2 ** (failures - loginFailuresFree));
