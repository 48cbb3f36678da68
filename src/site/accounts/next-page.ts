/** Where a request may lead a visitor: paths of the same host alone, so that no link can send a user elsewhere. */

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
