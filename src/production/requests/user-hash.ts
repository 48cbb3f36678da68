/** Users in logs and traces: a hash under a key of the deployment, the same on every replica. */
import { createHmac } from 'node:crypto';

/**
 * `secret` is the extended public key of users' wallets, which never changes and which outsiders do not have: without
 * it nobody can try e-mails against the log.
 */
export function userHasher(secret: string): (userKey: string) => string {
  const key = createHmac('sha256', 'rewards: users in logs and traces').update(secret).digest();
  return (userKey) => `user_${createHmac('sha256', key).update(userKey).digest('hex').slice(0, 16)}`;
}
