/** Verifies tokens by the provider's published keys (RFC 8725: the algorithms are fixed, and a key that the token itself names or carries is never used). */

import { createHash } from 'node:crypto';
import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../lib/clock.ts';
import { emailKey } from '../rules/user-key.ts';
import { asymmetricAlgorithms, type KeySet } from './key-set.ts';
import type { WalletsOf } from './token-wallets.ts';
import type { TokenRefusal, TokenUser, TokenVerifier } from './tokens.ts';

export interface TokenSettings {
  /** Must equal `iss` exactly. */
  issuer: string;
  /** Must be in `aud`. */
  audience: string;
  /** Accepted `typ` headers, lower case, without `application/`; '' for none. `at+jwt` is RFC 9068's. */
  types: readonly string[];
  /** Whether types other than `at+jwt`, which identity tokens have as well, are taken only with a scope. */
  scopeNeeded: boolean;
  /** Tolerance for the difference between two machines' clocks. */
  toleranceMs: number;
  /** Tokens made longer ago are refused, whatever their `exp` says. */
  ageMaxMs: number;
}

/** Longer tokens are refused unread. */
const TOKEN_MAX = 8 * 1024;
const TOKEN = /^[\w-]{1,4096}\.[\w-]+\.[\w-]+$/;
const SUBJECT_MAX = 255;
/** Accepted tokens that are remembered, some kilobyte each: about as many as users are active at a time. */
const ACCEPTED_MAX = 5_000;

type Code = TokenRefusal['code'];
const messages: Record<Code, string> = {
  missing: 'Send `Authorization: Bearer <token>` with a token of the identity provider.',
  malformed: 'The token is not a signed JWT.',
  algorithm: 'The token is signed with an algorithm that is not accepted.',
  type: 'The token is of another kind; send an access token: one of type at+jwt, or one with a scope.',
  unknown_key: 'The token is signed with a key that the identity provider does not publish.',
  signature: "The token's signature does not match its content.",
  claims: 'The token lacks a required claim, or a claim has the wrong form.',
  issuer: 'The token is from another issuer.',
  audience: 'The token is for another audience.',
  expired: 'The token has expired.',
  too_old: 'The token was issued too long ago.',
  not_yet_valid: 'The token is not valid yet.',
  keys_unavailable: "The identity provider's keys cannot be fetched at the moment; try again later.",
};

class Refused extends Error {
  readonly code: Code;
  constructor(code: Code) {
    super(messages[code]);
    this.code = code;
  }
}

/** `settings` are read at each call; `clock` is the one that tokens expire by. */
export function jwksVerifier(
  deps: { keys: KeySet; clock: Pick<Clock, 'now'>; walletsOf: WalletsOf },
  settings: TokenSettings,
): TokenVerifier {
  const accepted = createAcceptedTokens(ACCEPTED_MAX);
  return {
    ready: deps.keys.ready,
    async verify(authorization) {
      const token = bearerOf(authorization);
      if (typeof token !== 'string') return token;
      const checked = await checkOnce({ ...deps, accepted }, settings, token);
      if ('refusal' in checked) return checked;
      const { claims } = checked;
      const email = vouchedEmail(claims);
      const wallets = await deps.walletsOf({ claims, email });
      return {
        subject: String(claims.sub),
        ...(email !== undefined && { email }),
        wallets,
      } satisfies TokenUser;
    },
  };
}

interface CheckDeps {
  keys: KeySet;
  clock: Pick<Clock, 'now'>;
}

/** A token that was accepted stays so while it is in time and the provider publishes the key that signed it. */
async function checkOnce(
  { accepted, ...deps }: CheckDeps & { accepted: AcceptedTokens },
  settings: TokenSettings,
  token: string,
): Promise<{ claims: JWTPayload } | { refusal: TokenRefusal }> {
  const terms = JSON.stringify(settings);
  const nowMs = deps.clock.now();
  const known = accepted.find({ token, terms, nowMs });
  if (known && (await deps.keys.find(known.signedBy)) === known.signedBy.key) return known;
  const checked = await check(deps, settings, token);
  if ('refusal' in checked) return checked;
  const { exp = 0, iat = 0 } = checked.claims;
  const lastSecond = Math.min(exp, iat + settings.ageMaxMs / 1_000) + settings.toleranceMs / 1_000;
  accepted.keep({ token, terms, ...checked, fromMs: nowMs, untilMs: Math.floor(lastSecond) * 1_000 });
  return checked;
}

async function check(
  { keys, clock }: CheckDeps,
  settings: TokenSettings,
  token: string,
): Promise<{ claims: JWTPayload; signedBy: SignedBy } | { refusal: TokenRefusal }> {
  const found: { signedBy?: SignedBy } = {};
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ kid, alg }) => {
        if (typeof kid !== 'string' || kid === '') throw new Refused('unknown_key');
        const key = await keys.find({ keyId: kid, algorithm: alg });
        if (key === 'unavailable') throw new Refused('keys_unavailable');
        if (!key) throw new Refused('unknown_key');
        found.signedBy = { keyId: kid, algorithm: alg, key };
        return key;
      },
      {
        algorithms: asymmetricAlgorithms,
        issuer: settings.issuer,
        audience: settings.audience,
        requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat'],
        clockTolerance: settings.toleranceMs / 1_000,
        maxTokenAge: settings.ageMaxMs / 1_000,
        currentDate: new Date(clock.now()),
      },
    );
    if (!isAccepted(protectedHeader.typ, payload, settings)) return refuse('type');
    const { signedBy } = found;
    return signedBy && hasSoundClaims(payload) ? { claims: payload, signedBy } : refuse('claims');
  } catch (error) {
    return refuse(codeOf(error));
  }
}

const refuse = (code: Code) => ({ refusal: { code, message: messages[code] } });

function bearerOf(authorization: string | undefined): string | { refusal: TokenRefusal } {
  if (authorization === undefined) return refuse('missing');
  if (authorization.length > TOKEN_MAX) return refuse('malformed');
  const [scheme = '', token = '', ...more] = authorization.trim().split(/ +/);
  if (scheme.toLowerCase() !== 'bearer' || token === '') return refuse('missing');
  return more.length === 0 && TOKEN.test(token) ? token : refuse('malformed');
}

/** Refuses identity tokens and refresh tokens: those are meant for the page that logged in, not for this service. */
function isAccepted(
  typ: unknown,
  claims: JWTPayload,
  { types, scopeNeeded }: Pick<TokenSettings, 'types' | 'scopeNeeded'>,
): boolean {
  if (typ !== undefined && typeof typ !== 'string') return false;
  const kind = (typ ?? '').toLowerCase().replace(/^application\//, '');
  if (!types.includes(kind)) return false;
  if (kind === 'at+jwt') return true;
  const marks = ['nonce', 'at_hash', 'c_hash', 's_hash'].some((name) => Object.hasOwn(claims, name));
  const uses = [claims.token_use, claims.typ].map((use) => String(use ?? '').toLowerCase());
  const mayBeAccess = !marks && !uses.some((use) => /^(?:id|refresh|logout)/.test(use));
  return mayBeAccess && (!scopeNeeded || hasScope(claims.scope) || hasScope(claims.scp));
}

/** Text (RFC 8693) or a list: what an access token grants, and an identity token cannot. */
const hasScope = (scope: unknown): boolean =>
  (Array.isArray(scope) ? scope : [scope]).some((one) => typeof one === 'string' && one.trim() !== '');

/** Infinity is a number too, and would never expire. */
const hasSoundClaims = ({ sub, exp, iat, nbf }: JWTPayload) =>
  typeof sub === 'string' &&
  sub.length > 0 &&
  sub.length <= SUBJECT_MAX &&
  [exp, iat, nbf ?? 0].every((seconds) => Number.isFinite(seconds));

/** The e-mail if the provider has verified it: anybody can claim an unverified one. */
function vouchedEmail({ email, email_verified: verified }: JWTPayload): string | undefined {
  return verified === true && typeof email === 'string' ? emailKey(email) : undefined;
}

function codeOf(error: unknown): Code {
  if (error instanceof Refused) return error.code;
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return 'algorithm';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWTExpired) return error.claim === 'iat' ? 'too_old' : 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'missing') return 'claims';
    if (error.claim === 'iss') return 'issuer';
    if (error.claim === 'aud') return 'audience';
    if ((error.claim === 'nbf' || error.claim === 'iat') && error.reason === 'check_failed')
      return 'not_yet_valid';
    return 'claims';
  }
  // Every other error comes from the token itself, the library's only input.
  return 'malformed';
}

// Tokens that were accepted, kept until they may be refused: a user sends each many times, and its signature is the
// same every time.

/** What a token's header says of its key, and the key that made its signature. */
interface SignedBy {
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

interface AcceptedTokens {
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
