/** Sessions of browsers: a random id in a cookie, and its digest in the store; and the visitor's cookie, to which a guest's nonces are bound. */
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';
import { digestOf } from './stored-secrets.ts';

export const SESSION_COOKIE = 'rewards_site_session';
export const VISITOR_COOKIE = 'rewards_site_visitor';
type CookieName = typeof SESSION_COOKIE | typeof VISITOR_COOKIE;

/** 256 random bits in base64url. */
const ID = /^[\w-]{43}$/;

/** The cookie's value where it has the form of one of ours; the first, where a request has it twice. */
export function readCookie(request: Request, name: CookieName): string | undefined {
  const parts = (request.headers.get('cookie') ?? '').split(';').map((part) => part.trim());
  const value = parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  return value !== undefined && ID.test(value) ? value : undefined;
}

/** A Set-Cookie header; with `maxAgeMs` 0 it ends the cookie. Scripts cannot read it, other sites' forms do not send it. */
export function writeCookie(
  siteUrl: string,
  cookie: { name: CookieName; value: string; maxAgeMs: number },
): string {
  const { pathname, protocol } = new URL(siteUrl);
  return [
    `${cookie.name}=${cookie.value}`,
    `Path=${pathname}`,
    `Max-Age=${Math.floor(cookie.maxAgeMs / 1_000)}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(protocol === 'https:' ? ['Secure'] : []),
  ].join('; ');
}

/** Sessions of browsers: a random id in a cookie, and its digest in the store. */
export function createSessions({ store, clock, random }: { store: SiteStore; clock: Clock; random: Random }) {
  const insert = store.prepare<[string, number, number]>(
    'insert into sessions (digest, user_id, expires_at) values (?, ?, ?)',
  );
  const read = store.prepare<[string, number], { user_id: number }>(
    'select user_id from sessions where digest = ? and expires_at > ?',
  );
  const remove = store.prepare<[string]>('delete from sessions where digest = ?');
  const removeOver = store.prepare<[number]>('delete from sessions where expires_at <= ?');
  const ending = store.prepare<[number, number, number], { atMs: number; login: string; total: number }>(
    `select expires_at as atMs, login, count(*) over () as total from sessions
     join users on users.id = user_id where expires_at > ? and expires_at <= ? order by expires_at limit ?`,
  );
  return {
    /** Sessions that end in a stretch of time, the earliest first; `total` counts those beyond the limit too. */
    ending: (range: { afterMs: number; untilMs: number; limit: number }) =>
      ending.all(range.afterMs, range.untilMs, range.limit),
    /** A new id at every login: one that somebody planted in the browser before is worth nothing. */
    begin(userId: number): string {
      const id = Buffer.from(random.bytes(32)).toString('base64url');
      removeOver.run(clock.now());
      insert.run(digestOf(id), userId, clock.now() + siteSettings.sessionMs);
      return id;
    },
    userIdOf: (id: string): number | undefined => read.get(digestOf(id), clock.now())?.user_id,
    /** By the digest of its id. */
    end: (digest: string): void => void remove.run(digest),
  };
}
