/** What the emulator's control API answers about tokens. Times are RFC 3339. */

export interface TokenBody {
  token: string;
  /** The user's wallet. */
  address: string;
  expiresAt: string;
}

export interface TokenVerdictBody {
  verifies: boolean;
  /** By the emulator's clock. */
  now: string;
  user: { subject: string; email: string | null; wallets: string[] } | null;
  /** Why it is not taken, such as `expired`. */
  reason: string | null;
  message: string | null;
}

export interface PublishedKeysBody {
  /** The key that signs from now on. */
  keyId: string;
  published: string[];
}
