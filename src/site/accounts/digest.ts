/** Digests of random secrets: what the store keeps in place of the secret itself. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256 in hex. Enough for 128 random bits and more, never for what people think up. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Whether two texts are the same, in a time that tells nothing of where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
