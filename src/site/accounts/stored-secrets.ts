/** Secrets as the store keeps them: passwords as slow hashes (argon2id), random ones as digests. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 50 ms on the machines we know. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const hashPassword = (password: string): Promise<string> => hash(password, COST);

export const isPassword = (password: string, passwordHash: string): Promise<boolean> =>
  verify(passwordHash, password);

/** SHA-256 in hex. Enough for 128 random bits and more, never for what people think up. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Whether two texts are the same, in a time that tells nothing of where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
