/** A token that was accepted once is accepted again without a look at its signature, and no longer than it may be. */
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { settings } from '../../src/compose/config.ts';
import { createAcceptedTokens, jwksVerifier } from '../../src/identity/jwks.ts';
import { adjustableClock } from '../../src/lib/clock.ts';
import { claimsOf, outcome, sign } from './providers.ts';

const MINUTE_MS = 60_000;
const issuer = 'https://login.example';
let clock: ReturnType<typeof adjustableClock>;
let key: JWK & { kid: string; alg: string };
/** What the provider publishes under the key's name. */
let published: CryptoKey | undefined;
let terms: Parameters<typeof jwksVerifier>[1];
let verifier: ReturnType<typeof jwksVerifier>;

beforeEach(async () => {
  clock = adjustableClock({ frozen: true });
  const pair = await generateKeyPair('ES256', { extractable: true });
  key = { ...(await exportJWK(pair.privateKey)), kid: 'one', alg: 'ES256' };
  published = pair.publicKey;
  terms = { ...settings.identity.tokens, issuer };
  const keys = { find: async () => published, ready: async () => true, refresh: async () => {} };
  verifier = jwksVerifier({ keys, clock, walletsOf: async () => [] }, terms);
});

const tokenFor = (change = {}) => sign(key, { claims: claimsOf({ issuer, clock }, change) });
const seconds = () => Math.floor(clock.now() / 1_000);

test('it ends with its time, to the second that one which was never seen has', async () => {
  const token = await tokenFor({ exp: seconds() + 60 });
  expect(await outcome(verifier, token)).toBe('accepted');
  const fresh = jwksVerifier(
    {
      keys: { find: async () => published, ready: async () => true, refresh: async () => {} },
      clock,
      walletsOf: async () => [],
    },
    terms,
  );
  for (let second = 58; second < 68; second++) {
    expect(await outcome(verifier, token), `${second} s`).toBe(await outcome(fresh, token));
    clock.advance(second === 58 ? MINUTE_MS - 2_000 : 1_000);
  }
  expect(await outcome(verifier, token)).toBe('expired');
});

test('it ends with its key, and with what the service asks of tokens', async () => {
  const token = await tokenFor();
  expect(await outcome(verifier, token)).toBe('accepted');
  const own = published;
  published = undefined;
  expect(await outcome(verifier, token)).toBe('unknown_key');
  published = (await generateKeyPair('ES256')).publicKey;
  expect(await outcome(verifier, token)).toBe('signature');
  published = own;
  expect(await outcome(verifier, token)).toBe('accepted');
  terms.audience = 'another service';
  expect(await outcome(verifier, token)).toBe('audience');
});

test('another signature, or a clock before its time, is looked at', async () => {
  const token = await tokenFor();
  expect(await outcome(verifier, token)).toBe('accepted');
  const [head, body, signature = ''] = token.split('.');
  expect(await outcome(verifier, `${head}.${body}.A${signature.slice(2)}A`)).toBe('signature');
  clock.advance(-MINUTE_MS);
  expect(await outcome(verifier, token)).toBe('not_yet_valid');
});

test('those kept first go first', () => {
  const tokens = createAcceptedTokens(2);
  const accepted = { claims: {}, signedBy: { keyId: '', algorithm: '', key: published as CryptoKey } };
  for (const token of ['a', 'b', 'c']) tokens.keep({ token, terms: '', ...accepted, fromMs: 0, untilMs: 10 });
  const known = ['a', 'b', 'c'].filter((token) => tokens.find({ token, terms: '', nowMs: 9 }));
  expect(known).toEqual(['b', 'c']);
  expect(tokens.find({ token: 'c', terms: '', nowMs: 10 })).toBeUndefined();
  expect(tokens.find({ token: 'c', terms: 'other', nowMs: 9 })).toBeUndefined();
});
