/** Whether a request comes from a page of the site itself. */

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
