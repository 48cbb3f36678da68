/** The site's two cookies: the session of a user, and the visitor to whom a guest's nonces are bound. */

export const SESSION_COOKIE = 'rewards_site_session';
export const VISITOR_COOKIE = 'rewards_site_visitor';
export type CookieName = typeof SESSION_COOKIE | typeof VISITOR_COOKIE;

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
