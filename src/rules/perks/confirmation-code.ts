/** The code that a user shows for a redeemed perk and the brand checks: `7KQ2-M9XT-4HVC`. */

/** Crockford's 32 digits: none that people take for another one. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 60 bits cannot be guessed at any rate at which the service answers. */
export const CODE_DIGITS = 12;
const GROUP = 4;

/** A new code, from as many random bytes as it has digits. */
export function confirmationCode(random: Uint8Array): string {
  const digits = [...random.slice(0, CODE_DIGITS)].map((byte) => DIGITS[byte & 31]);
  return grouped(digits.join(''));
}

/** A code as people type it, in the one form that is stored; undefined for what cannot be one. */
export function readConfirmationCode(text: string): string | undefined {
  const digits = text.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  const isCode = digits.length === CODE_DIGITS && [...digits].every((digit) => DIGITS.includes(digit));
  return isCode ? grouped(digits) : undefined;
}

const grouped = (digits: string) =>
  Array.from({ length: CODE_DIGITS / GROUP }, (_, group) =>
    digits.slice(group * GROUP, (group + 1) * GROUP),
  ).join('-');
