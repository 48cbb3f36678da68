/** Which pages are the site's own: those from which a request may come, and those to which it may lead a visitor. */

/**
 * Browsers say so in `Sec-Fetch-Site`, older ones in `Origin` alone; pages can write neither. What sends neither header
 * is no browser that anybody could be led astray in, and needs a nonce all the same.
 */
export function isOwnPage(request: Request, siteUrl: string): boolean {
  const from = request.headers.get('sec-fetch-site');
  if (from !== null && from !== 'same-origin' && from !== 'none') return false;
  const origin = request.headers.get('origin');
  if (origin === null) return true;
  // Pages that tell nobody where they are say `null`, as do frames of anybody: the other header must vouch for it.
  if (origin === 'null') return from === 'same-origin';
  return origin === new URL(siteUrl).origin || origin === new URL(request.url).origin;
}

/** Nobody's address: what is still its path after a browser's reading of it is a path of this host. */
const HERE = 'http://site.invalid';

/** The path as a browser reads it, with query and fragment; undefined when it leads to another host or is not a path. */
export function pathHere(wanted: unknown): string | undefined {
  if (typeof wanted !== 'string' || !/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted)) return undefined;
  const url = URL.canParse(wanted, HERE) ? new URL(wanted, HERE) : undefined;
  // Dots that are resolved may leave two slashes, which begin the name of another host.
  if (url?.origin !== HERE || url.pathname.startsWith('//')) return undefined;
  return `${url.pathname}${url.search}${url.hash}`;
}

/** Where a login or a registration leads, below the site's base; the dashboard where no page is asked for. */
export const nextPage = (asked: unknown): string => pathHere(asked) ?? '/dashboard';
