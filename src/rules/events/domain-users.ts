/** How a brand's site numbers its users, where an event says number and e-mail together. */
import type { BrandProfile } from '../brands/brand.ts';
import { platformUserKey } from '../platforms.ts';
import type { EventSubmission } from './submission.ts';

const ID = '_{id}';
const ID_FORM = /^[\w.@+-]{1,128}$/;

/**
 * The stand-in e-mail of the number in `metadata.user_id`, by the brand's pattern (`wordpress_{id}`); undefined where the
 * event does not say both, or came without the brand's key, which alone makes the pair believed.
 */
export function numberedUser(
  { withBrandKey, userEmail, userKey, metadata }: EventSubmission,
  { domainUsers }: Pick<BrandProfile, 'domainUsers'>,
  ownDomain: string | undefined,
): string | undefined {
  if (!withBrandKey || domainUsers === undefined || ownDomain === undefined || userEmail === undefined)
    return undefined;
  const sent = Object.hasOwn(metadata, 'user_id') ? metadata.user_id : undefined;
  const id = typeof sent === 'number' || typeof sent === 'string' ? String(sent).trim() : '';
  if (!ID_FORM.test(id)) return undefined;
  const key = platformUserKey(domainUsers.slice(0, -ID.length), id, ownDomain);
  return key === userKey ? undefined : key;
}
