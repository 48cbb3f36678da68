/** Chat platforms and login providers: what their users' ids look like, and under which key those users are counted. */
import { emailKey } from './user-key.ts';

export interface Platform {
  form: RegExp;
  /** The form in words, after "must be". */
  expected: string;
}

const ANY_ID: Platform = { form: /^[\w.@+-]{1,128}$/, expected: '1 to 128 letters, digits and . _ @ + -' };

const PLATFORMS: Readonly<Record<string, Platform>> = {
  /** Snowflakes: milliseconds since 2015 in the upper 42 of 64 bits, so never less than 17 digits. */
  discord: { form: /^\d{17,20}$/, expected: '17 to 20 digits' },
  /** Whole numbers that fit 52 bits. */
  telegram: { form: /^[1-9]\d{0,15}$/, expected: '1 to 16 digits' },
  /** Ids of 2006 are short, those of today are snowflakes of 64 bits. */
  twitter: { form: /^[1-9]\d{0,18}$/, expected: '1 to 19 digits' },
  twitch: { form: /^[1-9]\d{0,18}$/, expected: '1 to 19 digits' },
  farcaster: ANY_ID,
  github: ANY_ID,
  google: ANY_ID,
  slack: ANY_ID,
  spotify: ANY_ID,
  instagram: ANY_ID,
  tiktok: ANY_ID,
  whatsapp: ANY_ID,
  facebook: ANY_ID,
  email: { form: /@/, expected: 'an e-mail address' },
};
/** Names that mean a platform of another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = { x: 'twitter' };

/** Every name under which a platform is known, in lower case. */
export const platformNames = [...Object.keys(PLATFORMS), ...Object.keys(OTHER_NAMES)];

/** The one name of a platform, known or not: lower case, `twitter` for `X`. */
export function platformName(name: string): string {
  const lower = name.toLowerCase();
  return Object.hasOwn(OTHER_NAMES, lower) ? (OTHER_NAMES[lower] ?? lower) : lower;
}

/** By its one name; undefined for a platform that is not known. */
export const knownPlatform = (name: string): Platform | undefined =>
  Object.hasOwn(PLATFORMS, name) ? PLATFORMS[name] : undefined;

/**
 * The key under which a user of a platform is counted: their stand-in e-mail under the service's own domain, and for
 * the platform `email` the e-mail itself. Case does not count. Undefined when the two make no e-mail address.
 */
export function platformUserKey(platform: string, id: string, ownDomain: string): string | undefined {
  const name = platformName(platform);
  if (name === 'email') return emailKey(id);
  return emailKey(`${name}_${standIn(id)}@${ownDomain}`);
}

/** What the local part of an e-mail cannot have, in the spelling of URLs; ids have no `%`, so no two become one. */
const standIn = (id: string) => id.replaceAll('@', '%40').replace(/\.$|\.(?=\.)/g, '%2e');
