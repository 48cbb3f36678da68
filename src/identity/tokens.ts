/** The ports to the identity provider: verifying tokens and, for the emulator, issuing them. */

/** Whom a token speaks for. */
export interface TokenUser {
  /** The provider's own name for the user. */
  subject: string;
  /** In the ledger's form; present only when the provider has verified it. */
  email?: string;
  /** Accounts that belong to the user, lower case. */
  wallets: `0x${string}`[];
}

/** Why a token is refused; `message` may be shown to the caller and contains nothing of the token. */
export interface TokenRefusal {
  code:
    | 'missing'
    | 'malformed'
    | 'algorithm'
    | 'type'
    | 'unknown_key'
    | 'signature'
    | 'claims'
    | 'issuer'
    | 'audience'
    | 'expired'
    | 'too_old'
    | 'not_yet_valid'
    | 'keys_unavailable';
  message: string;
}

export interface TokenVerifier {
  /** `authorization`: the header's value, `Bearer <token>` (contract: Authentication, relay). Never throws for a bad token. */
  verify(authorization: string | undefined): Promise<TokenUser | { refusal: TokenRefusal }>;
  /** Whether tokens can be verified now: keys are at hand, or can be fetched. */
  ready(): Promise<boolean>;
}

/** A public key as JSON (RFC 7517). */
export type PublicKey = Record<string, unknown> & { kid: string };

export interface TokenIssuer {
  /** A signed token; `audience` in place of the service's own. */
  issue(wish: {
    subject: string;
    email: string;
    wallet: `0x${string}`;
    expiresAtMs: number;
    audience?: string | undefined;
  }): Promise<string>;
  /** Signs with a new key from now on; with `revoke` the earlier keys are no longer published. */
  rotate(wish: { revoke: boolean }): Promise<{ keyId: string; published: string[] }>;
  /** What is published: the key that signs first. */
  keys(): PublicKey[];
  /** What OpenID Connect Discovery answers. */
  configuration(): Record<string, unknown>;
}
