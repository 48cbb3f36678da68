/** Where identifiers and other random bytes come from. */
import { randomBytes } from 'node:crypto';

/** Passed in wherever something random is needed, so that a simulation can repeat itself. */
export interface Random {
  /** A UUID of version 7: sorts by the time of its making, so that indexes grow at their end. */
  uuid(): string;
  /** Hexadecimal digits for a name that is not a secret. */
  digits(count: number): string;
  bytes(count: number): Uint8Array;
}

/** The machine's own secure randomness, with the time taken from `clock`. */
export const secureRandom = (clock: { now(): number }): Random => ({
  uuid: () => uuidV7({ nowMs: clock.now(), digits: drawnDigits(UUID_DIGITS) }),
  digits: drawnDigits,
  bytes: (count) => randomBytes(count),
});

/** What is drawn at once: a draw costs far more than its bytes, and each request needs some. */
const DRAWN_BYTES = 4_096;
let drawn = { digits: '', used: 0 };

/** Digits that were drawn ahead, each given out once. What must stay secret is drawn by itself, with `bytes`. */
function drawnDigits(count: number): string {
  if (drawn.used + count > drawn.digits.length)
    drawn = { digits: randomBytes(Math.max(DRAWN_BYTES, count)).toString('hex'), used: 0 };
  drawn.used += count;
  return drawn.digits.slice(drawn.used - count, drawn.used);
}

/** Digits that names made at the same moment begin with. */
const PLACE_DIGITS = 3;
/** A moment. After all 4,096 places, 17 minutes later, the first comes again. */
const PLACE_MS = 250;

/**
 * A name of `count` hexadecimal digits that lies in an index beside those that are made with it: of random names each is on
 * a page of its own. With the time in front it would be so too, but people name things by their first digits, and for
 * minutes all would begin alike.
 */
export const placedName = (random: Random, { nowMs, count }: { nowMs: number; count: number }): string =>
  placeDigits(Math.floor(nowMs / PLACE_MS)) + random.digits(count - PLACE_DIGITS);

/** All that such names begin with. */
export const allPlaces = (): string[] => Array.from({ length: PLACES }, (_, place) => placeDigits(place));

const PLACES = 16 ** PLACE_DIGITS;
const placeDigits = (place: number) => (place % PLACES).toString(16).padStart(PLACE_DIGITS, '0');

/** Random digits of a UUID, of which one gives two bits only. */
const UUID_DIGITS = 19;

/** RFC 9562, section 5.7: 48 bits of milliseconds, then version, variant and 74 random bits. */
export function uuidV7({ nowMs, digits }: { nowMs: number; digits: string }): string {
  const time = nowMs.toString(16).padStart(12, '0');
  const variant = (8 + (Number.parseInt(digits.charAt(3), 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digits.slice(0, 3)}-${variant}${digits.slice(4, 7)}-${digits.slice(7, UUID_DIGITS)}`;
}
