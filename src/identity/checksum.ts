/** Addresses as answers spell them: with the checksum of EIP-55, so that texts can be compared; a brandId alone is lower case. */

import type { Hex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak256.ts';

/** Codes of characters: a wallet of each event is spelled, so no text is put together digit by digit. */
const DIGIT_8 = 0x38;
const LETTER_A = 0x61;
const TO_UPPER_CASE = 0x20;

/** Throws for a text that is not an address. */
export function checksummed(address: string): `0x${string}` {
  if (!isAddress(address)) throw new TypeError('a text that is not an address has no checksum');
  const spelled = Buffer.from(address.toLowerCase(), 'latin1');
  const hash = keccak256(spelled.subarray(2));
  for (let place = 2; place < spelled.length; place++) {
    const digit = spelled[place] as number;
    if (digit >= LETTER_A && hash.charCodeAt(place) >= DIGIT_8) spelled[place] = digit - TO_UPPER_CASE;
  }
  return spelled.toString('latin1') as `0x${string}`;
}

const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text);

/** The facts of a refusal with every address in that spelling; `brandId` stays as it is. */
export function withChecksums<Facts extends object>(facts: Facts): Facts {
  const spelled = (value: unknown): unknown => {
    if (typeof value === 'string' && isAddress(value)) return checksummed(value);
    if (Array.isArray(value)) return value.map(spelled);
    return typeof value === 'object' && value !== null ? withChecksums(value) : value;
  };
  const all = Object.entries(facts).map(([name, value]) => [
    name,
    name === 'brandId' ? value : spelled(value),
  ]);
  return Object.fromEntries(all) as Facts;
}

/** How the ledger may spell an account: as a user's software wrote it, in lower case, or with the checksum of a derived wallet. */
export const addressSpellings = (address: Hex): Hex[] => [address.toLowerCase() as Hex, checksummed(address)];
