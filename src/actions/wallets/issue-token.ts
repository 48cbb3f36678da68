/** Issues a token of the emulator's own identity provider, as a login would. */
import { createHash } from 'node:crypto';
import type { TokenIssuer } from '../../identity/tokens.ts';
import type { Database } from '../../ledger/database/database.ts';
import { ensureWallets } from '../../ledger/wallets/wallets.ts';
import type { Clock } from '../../lib/clock.ts';

export interface IssueTokenDeps {
  database: Database;
  clock: Pick<Clock, 'now'>;
  issuer: TokenIssuer;
  addressAt: (index: number) => `0x${string}`;
}

/** `email` is in the ledger's form; a user without a wallet gets one. `expiresAtMs` is whole seconds, as in the token. */
export async function issueToken(
  { database, clock, issuer, addressAt }: IssueTokenDeps,
  wish: { email: string; lifetimeMs: number; audience?: string | undefined },
): Promise<{ token: string; address: `0x${string}`; expiresAtMs: number }> {
  const { email, lifetimeMs, audience } = wish;
  const nowMs = clock.now();
  const wallets = await database.atomically((tx) =>
    ensureWallets(tx, { userKeys: [email], addressAt, nowMs }),
  );
  const address = wallets.get(email)?.address;
  if (!address) throw new Error('a user was left without a wallet');
  const expiresAtMs = Math.floor((nowMs + lifetimeMs) / 1_000) * 1_000;
  const token = await issuer.issue({
    subject: subjectOf(email),
    email,
    wallet: address,
    expiresAtMs,
    audience,
  });
  return { token, address, expiresAtMs };
}

/** The same for the same user, and no e-mail, as with most providers. */
const subjectOf = (email: string) => `user_${createHash('sha256').update(email).digest('hex').slice(0, 24)}`;
