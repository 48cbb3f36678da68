/** Entity tags: what names a state of an answer, so that it is sent again only when it has changed (RFC 9110). */
import { createHash } from 'node:crypto';

/** Of the text before any compression. */
export const entityTagOf = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** Whether an `If-None-Match` names this state; proxies and compression may have made the tag a weak one. */
export const namesTag = (ifNoneMatch: string | null | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
