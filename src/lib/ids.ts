/** Where identifiers and other random bytes come from. */
import { randomBytes } from 'node:crypto';

/** Passed in wherever something random is needed, so that a simulation can repeat itself. */
export interface Random {
  /** A UUID of version 7: sorts by the time of its making, so that indexes grow at their end. */
  uuid(): string;
  bytes(count: number): Uint8Array;
}

/** The machine's own secure randomness, with the time taken from `clock`. */
export const secureRandom = (clock: { now(): number }): Random => ({
  uuid: () => uuidV7({ nowMs: clock.now(), random: randomBytes(10) }),
  bytes: (count) => randomBytes(count),
});

/** RFC 9562, section 5.7: 48 bits of milliseconds, then version, variant and 74 random bits. */
export function uuidV7({ nowMs, random }: { nowMs: number; random: Uint8Array }): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
