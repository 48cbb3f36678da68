/** Remembers which tokens this run has issued, so that the clock can be moved to where they expire. */
import type { TokenIssuer } from '../../identity/tokens.ts';
import type { ClockLimit } from './move-clock.ts';

interface IssuedToken {
  email: string;
  expiresAtMs: number;
}

export interface IssuedTokens {
  issuer: TokenIssuer;
  /** Of the tokens that were issued last. */
  ends: ClockLimit;
  /** The token that was issued last. */
  latest(): IssuedToken | undefined;
}

/** `tokensMax`: how many are remembered; only when each expires, and whose it is, never the token. */
export function rememberTokens(issuer: TokenIssuer, { tokensMax }: { tokensMax: number }): IssuedTokens {
  const issued: IssuedToken[] = [];
  return {
    issuer: {
      ...issuer,
      async issue(wish) {
        const token = await issuer.issue(wish);
        issued.push({ email: wish.email, expiresAtMs: wish.expiresAtMs });
        if (issued.length > tokensMax) issued.shift();
        return token;
      },
    },
    latest: () => issued.at(-1),
    ends: {
      async ending({ afterMs, untilMs, limit }) {
        const over = issued
          .filter(({ expiresAtMs }) => expiresAtMs > afterMs && expiresAtMs <= untilMs)
          .sort((a, b) => a.expiresAtMs - b.expiresAtMs);
        return {
          total: over.length,
          items: over.slice(0, limit).map(({ email, expiresAtMs }) => ({
            atMs: expiresAtMs,
            kind: 'token-expiry',
            what: `a token of ${email} expires`,
          })),
        };
      },
    },
  };
}

/** When a token expires, as it says itself; undefined when the text is not a token that expires. */
export function expiryOf(token: string): number | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const exp = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : undefined;
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
