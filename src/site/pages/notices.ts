/** What a page says after a form: kept in the store until the browser that sent the form has shown it. */
import { createHash } from 'node:crypto';
import type { Caller } from '../accounts/users.ts';
import type { SiteStore } from '../store.ts';

export interface Notice {
  text: string;
  isBad: boolean;
}

export type Notices = ReturnType<typeof createNotices>;

/** A notice that was not fetched in this time belongs to a page that is closed. */
const KEPT_MS = 3_600_000;

export function createNotices({ store, now }: { store: SiteStore; now: () => number }) {
  const write = store.prepare(
    `insert into notices (browser, text, is_bad, at) values (?, ?, ?, ?)
     on conflict (browser) do update set text = excluded.text, is_bad = excluded.is_bad, at = excluded.at`,
  );
  const forget = store.prepare('delete from notices where at < ?');
  const take = store.prepare<[string], { text: string; isBad: number }>(
    'delete from notices where browser = ? returning text, is_bad as isBad',
  );
  return {
    /** Replaces what was not shown yet. */
    say(caller: Caller, { text, isBad }: Notice): void {
      const browser = browserOf(caller);
      forget.run(now() - KEPT_MS);
      if (browser !== undefined) write.run(browser, text, isBad ? 1 : 0, now());
    },
    /** Each is shown once. */
    take(caller: Caller): Notice | undefined {
      const browser = browserOf(caller);
      const found = browser === undefined ? undefined : take.get(browser);
      return found && { text: found.text, isBad: found.isBad === 1 };
    },
  };
}

/** Not the key itself: it makes nonces. */
const browserOf = (caller: Caller): string | undefined =>
  'nonceKey' in caller && caller.nonceKey !== ''
    ? createHash('sha256').update(`notice ${caller.nonceKey}`).digest('hex')
    : undefined;
