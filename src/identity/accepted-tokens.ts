/** Tokens that were accepted, kept until they may be refused: a user sends each many times, and its signature is the same every time. */
import { createHash } from 'node:crypto';
import type { CryptoKey, JWTPayload } from 'jose';

/** What a token's header says of its key, and the key that made its signature. */
export interface SignedBy {
  keyId: string;
  algorithm: string;
  key: CryptoKey;
}

interface AcceptedToken {
  claims: JWTPayload;
  signedBy: SignedBy;
  /** It was accepted then, and is in time up to the second moment. */
  fromMs: number;
  untilMs: number;
}

export interface AcceptedTokens {
  /** Undefined for a token that has to be looked at. Its key may have been withdrawn since: that is the caller's to see. */
  find(wanted: { token: string; terms: string; nowMs: number }): AcceptedToken | undefined;
  keep(accepted: { token: string; terms: string } & AcceptedToken): void;
}

/** `max`: tokens kept; the one that was kept first goes first. `terms`: what a token was accepted under. */
export function createAcceptedTokens(max: number): AcceptedTokens {
  const kept = new Map<string, AcceptedToken>();
  // Kept so that a reader of the process's memory finds no token in it.
  const nameOf = ({ token, terms }: { token: string; terms: string }) =>
    createHash('sha256').update(`${terms}\n${token}`).digest('base64');
  return {
    find({ nowMs, ...named }) {
      const known = kept.get(nameOf(named));
      return known && nowMs >= known.fromMs && nowMs < known.untilMs ? known : undefined;
    },
    keep({ token, terms, ...accepted }) {
      kept.set(nameOf({ token, terms }), accepted);
      const [first] = kept.keys();
      if (kept.size > max && first !== undefined) kept.delete(first);
    },
  };
}
