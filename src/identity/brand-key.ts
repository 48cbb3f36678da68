/** The text of a brand's key: `rk_<environment>_<id>_<secret>`. Shown once, kept as a digest. */
import { createHash, timingSafeEqual } from 'node:crypto';

const FORM = /^rk_([a-z]{1,10})_([A-Za-z0-9]{1,40})_([A-Za-z0-9]{24,100})$/;

interface KeyText {
  /** `<environment>_<id>`: what the key is found by. */
  keyId: string;
  secret: string;
}

/** Undefined when the text is not a key. */
export function parseKeyText(text: string): KeyText | undefined {
  const match = FORM.exec(text);
  return match ? { keyId: `${match[1]}_${match[2]}`, secret: match[3] ?? '' } : undefined;
}

/** The secret has 24 and more random characters, so a plain hash cannot be turned back. */
export const digestSecret = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** Whether the secret has this digest; takes the same time whichever it is. */
export function secretMatches(secret: string, digest: string): boolean {
  const sent = Buffer.from(digestSecret(secret), 'hex');
  const kept = Buffer.from(digest, 'hex');
  return sent.length === kept.length && timingSafeEqual(sent, kept);
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';
/** 40 characters of 56: 232 bits. */
const SECRET_LENGTH = 40;
const ID_LENGTH = 12;

/** A new key. `bytes` gives random ones. */
export function newKeyText(
  environment: string,
  bytes: (count: number) => Uint8Array,
): KeyText & { text: string } {
  const word = (length: number) => {
    let letters = '';
    // Bytes above the largest multiple of the alphabet's length would make its first letters more likely.
    while (letters.length < length) {
      for (const byte of bytes(length)) {
        if (byte < 224 && letters.length < length) letters += ALPHABET[byte % ALPHABET.length];
      }
    }
    return letters;
  };
  const keyId = `${environment}_${word(ID_LENGTH)}`;
  const secret = word(SECRET_LENGTH);
  return { keyId, secret, text: `rk_${keyId}_${secret}` };
}
