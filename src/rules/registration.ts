/** Whom a registration is for: an account on a chat platform, or an e-mail (contract: Pregenerated wallet). */
import { knownPlatform, platformName, platformNames, platformUserKey } from './platforms.ts';
import { sanitiseText } from './sanitise.ts';
import { addressKey, emailKey } from './user-key.ts';

/** How a person is known: the platform and the id there, or `email` and the e-mail. */
export interface IdentityName {
  provider: string;
  providerUserId: string;
}

export interface Registration extends IdentityName {
  brandId: `0x${string}`;
  /** The user's name on the platform, for people; null for users who have none, and for an e-mail. */
  username: string | null;
  /** The same as that of an event with `{platform, platformUserId}`, so that its rewards find the same wallet. */
  userKey: string;
}

/** What may be wrong with a registration; `message` says how to put it right. */
export type RegistrationProblem =
  | { code: 'missing_fields'; missing: string[] }
  | { code: 'mixed_forms' }
  | { code: 'invalid_brand_id' }
  | { code: 'invalid_oauth_provider'; provider: string; allowed: string[] }
  | { code: 'invalid_oauth_user_id'; provider: string; expected: string }
  | { code: 'invalid_oauth_username'; limit: number }
  | { code: 'invalid_email' };

/** Longer than any platform allows; it is only kept and shown. */
export const USERNAME_MAX = 100;

export const registrationFields = [
  'brand_id',
  'oauth_provider',
  'oauth_user_id',
  'oauth_username',
  'email',
] as const;
type RegistrationFields = { [Field in (typeof registrationFields)[number]]?: unknown };

const ACCOUNT = ['oauth_provider', 'oauth_user_id', 'oauth_username'] as const;
const REQUIRED = ['brand_id', 'oauth_provider', 'oauth_user_id'] as const;

/**
 * Reads a registration, in this order: which form it has, what is missing, the brand, the user. `ownDomain` is the
 * host under which users of platforms have their stand-in e-mail.
 */
export function readRegistration(
  fields: RegistrationFields,
  { ownDomain }: { ownDomain: string },
): { registration: Registration } | { problem: RegistrationProblem } {
  const given = Object.fromEntries(
    registrationFields.map((field) => [field, textOf(fields[field])]),
  ) as Record<(typeof registrationFields)[number], string>;
  const byEmail = given.email !== '';
  if (byEmail && ACCOUNT.some((field) => given[field] !== '')) {
    return { problem: { code: 'mixed_forms' } };
  }
  const missing = (byEmail ? ['brand_id' as const] : REQUIRED).filter((field) => given[field] === '');
  if (missing.length > 0) return { problem: { code: 'missing_fields', missing } };
  const brandId = addressKey(given.brand_id);
  if (!brandId) return { problem: { code: 'invalid_brand_id' } };
  if (byEmail) {
    const userKey = emailKey(given.email);
    if (!userKey) return { problem: { code: 'invalid_email' } };
    return {
      registration: { brandId, provider: 'email', providerUserId: userKey, username: null, userKey },
    };
  }

  const provider = platformName(given.oauth_provider);
  const platform = knownPlatform(provider);
  if (!platform) {
    const shown = sanitiseText(provider).slice(0, SHOWN_MAX);
    return { problem: { code: 'invalid_oauth_provider', provider: shown, allowed: platformNames } };
  }
  // The key does not count case, so the id must not either: one user would have two ids here and one wallet.
  const providerUserId = given.oauth_user_id.toLowerCase();
  const userKey = platform.form.test(providerUserId)
    ? platformUserKey(provider, providerUserId, ownDomain)
    : undefined;
  if (!userKey) {
    return { problem: { code: 'invalid_oauth_user_id', provider, expected: platform.expected } };
  }
  const username = given.oauth_username;
  if (username === UNREADABLE || username.length > USERNAME_MAX) {
    return { problem: { code: 'invalid_oauth_username', limit: USERNAME_MAX } };
  }
  const named = { brandId, provider, username: username === '' ? null : username, userKey };
  return { registration: { ...named, providerUserId: provider === 'email' ? userKey : providerUserId } };
}

const SHOWN_MAX = 60;

/** What is neither a text nor a whole number is UNREADABLE: a long number has lost its last digits on the way. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return sanitiseText(value).trim();
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : UNREADABLE;
  return value === undefined || value === null ? '' : UNREADABLE;
}

/** No field has this form, and no text that was sent can be this. */
const UNREADABLE = '\u0000';
