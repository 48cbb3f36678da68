/** Which brand and which user a request to the services host is about: its fields, and the ledger's one form of them. */
import { z } from 'zod';
import { platformName, platformUserKey } from '../../rules/platforms.ts';
import { sanitiseText } from '../../rules/sanitise.ts';
import { addressKey, EMAIL_MAX, emailKey } from '../../rules/user-key.ts';
import { brandIdField, orRequired, trimmedText } from '../shapes.ts';

/** No platform comes near it. */
const PLATFORM_NAME_MAX = 64;
/** What ids on platforms look like; the longest e-mail is longer than any of them. */
const PLATFORM_ID = /^[\w.@+-]{1,128}$/;

const IDENTIFIER_PROBLEM = 'must be an e-mail, an address, or an id on the platform that `platform` names';

/** Where the user is active, by its one name; absent when it was not sent or is empty. */
export const platformField = trimmedText('must be a platform name')
  .refine((name) => /^[\w-]*$/.test(name) && name.length <= PLATFORM_NAME_MAX, 'must be a platform name')
  .nullish()
  .transform((name) => (name ? platformName(name) : undefined))
  .meta({
    description:
      'Where the user is active, such as `discord` or `web`. With an identifier that is neither an e-mail nor an address: the platform whose id it is.',
    maxLength: PLATFORM_NAME_MAX,
  });

/** The fields of every request about a user; `userOf` makes the user of them. */
export const userFields = {
  brandId: brandIdField,
  userIdentifier: z
    .union([z.string(), z.int().transform(String)], { error: orRequired(IDENTIFIER_PROBLEM) })
    .transform((text) => sanitiseText(text).trim())
    .meta({
      description: 'The user: an e-mail, an address, or their id on `platform`.',
      maxLength: EMAIL_MAX,
    }),
  platform: platformField,
};

/** The user whom a request is about, under the key by which rewards and wallets know them. */
export interface ServiceUser {
  userKey: string;
  /** Where the user was named by it. */
  userAddress: `0x${string}` | undefined;
}

/** `ownDomain` is where users of chat platforms have their stand-in e-mail. Errors are prefixed with their field. */
export function userOf(
  { userIdentifier, platform }: { userIdentifier: string; platform?: string | undefined },
  ownDomain: string,
): ServiceUser | { errors: string[] } {
  const userAddress = addressKey(userIdentifier);
  if (userAddress) return { userKey: userAddress, userAddress };
  const userKey = emailKey(userIdentifier) ?? platformKey(userIdentifier, platform, ownDomain);
  return userKey === undefined
    ? { errors: [`userIdentifier: ${IDENTIFIER_PROBLEM}`] }
    : { userKey, userAddress: undefined };
}

function platformKey(id: string, platform: string | undefined, ownDomain: string): string | undefined {
  if (platform === undefined || !PLATFORM_ID.test(id)) return undefined;
  return platformUserKey(platform, id, ownDomain);
}
