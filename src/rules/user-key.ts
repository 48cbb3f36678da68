/** The one form under which a user is counted: their e-mail, or their address. */
// As a whole: Node finds no names in it.
import emailAddresses from 'email-addresses';
import { memoize } from '../lib/memoize.ts';
import { parseUrl } from '../lib/url.ts';

/** RFC 5321's limit for a whole address, and the contract's. */
export const EMAIL_MAX = 254;
/**
 * What nearly every address is (RFC 5322, dot-atom; RFC 6532 for letters outside ASCII). Decided here, since the
 * library's general grammar takes up to 50 ms for the worst 254 characters.
 */
const DOT_ATOM = /^[^\s\x00-\x20"(),.:;<>@[\\\]\x7f]+(?:\.[^\s\x00-\x20"(),.:;<>@[\\\]\x7f]+)*$/;
/** A quoted local part (rare), of RFC 5321's length. Escapes are refused: they spell one address in many ways. */
const QUOTED = /^"[^"\\]{1,62}"$/;
const DOMAIN = /^[^\s/\\?#%:[\]@]+$/;

const inner = ({ source }: RegExp) => source.slice(1, -1);
/** `emailKey` as far as a pattern can say it, for descriptions of the API; it leaves the names of hosts to the service. */
export const EMAIL_PATTERN = `^\\s*(?:${inner(DOT_ATOM)}|${inner(QUOTED)})@${inner(DOMAIN)}\\s*$`;

/** Of what stands behind the @: as DNS has it. Most users' mailboxes are at a few domains. */
const domainOf = memoize((host) => {
  const name = DOMAIN.test(host) ? parseUrl(`http://${host}`)?.hostname : undefined;
  return name && DOT_ATOM.test(name) ? name : undefined;
});

/**
 * Trimmed, composed (NFC), local part and domain lower-cased, domain in ASCII; no stripping of tags or dots.
 * Undefined unless the text is one plain RFC 5322 mailbox without a display name.
 */
export function emailKey(text: string): string | undefined {
  const email = text.trim().normalize('NFC');
  // Length first: everything below takes longer for longer texts.
  if (email.length > EMAIL_MAX) return undefined;
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  const host = email.slice(at + 1);
  const domain = at < 1 ? undefined : domainOf(host);
  if (domain === undefined) return undefined;
  const key = `${local.toLowerCase().normalize('NFC')}@${domain}`;
  if (DOT_ATOM.test(local)) return key;
  const parsed = QUOTED.test(local) ? emailAddresses.parseOneAddress({ input: key, rejectTLD: false }) : null;
  if (parsed?.type !== 'mailbox') return undefined;
  // Quotes that the local part does not need are dropped, so that both spellings give one key.
  return DOT_ATOM.test(parsed.local) ? `${parsed.local}@${domain}` : key;
}

/** An account on chain, lower case; undefined when the text is not an address. */
export function addressKey(text: string): `0x${string}` | undefined {
  const address = text.trim().toLowerCase();
  return /^0x[0-9a-f]{40}$/.test(address) ? (address as `0x${string}`) : undefined;
}
