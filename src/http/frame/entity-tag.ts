/** Entity tags: what names a state of an answer, so that it is sent again only when it has changed (RFC 9110). */
import { createHash } from 'node:crypto';

/** Of the text before any compression. */
export const entityTagOf = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/**
 * An answer that caches may keep, so without headers that are this caller's alone; 304 where the request names the state
 * that it has.
 */
export function cacheableAnswer(
  asked: Pick<Request, 'headers'>,
  { text, etag, headers }: { text: string; etag: string; headers: Record<string, string> },
): Response {
  const about = { ...headers, etag };
  return namesTag(asked.headers.get('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: about })
    : new Response(text, { headers: about });
}

/** Whether an `If-None-Match` names this state; proxies and compression may have made the tag a weak one. */
const namesTag = (ifNoneMatch: string | null, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
