/** Which tokens of a provider are taken: their length, their kind, their claims, to the letter. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { settings } from '../../src/compose/config.ts';
import { jwksVerifier } from '../../src/identity/jwks.ts';
import { createKeySet } from '../../src/identity/key-set.ts';
import type { TokenVerifier } from '../../src/identity/tokens.ts';
import { adjustableClock } from '../../src/lib/clock.ts';
import { claimsOf, outcome, recordingLog, sign } from './providers.ts';

const issuer = 'https://idp.example';
const clock = adjustableClock({ frozen: true });
let key: JWK & { kid: string; alg: string };
let verifier: TokenVerifier;

const open = (published: JWK[], types: string[]) =>
  jwksVerifier(
    {
      keys: createKeySet(
        { load: async () => ({ keys: published }), clock, log: recordingLog().log },
        settings.identity.keys,
      ),
      clock,
      walletsOf: async () => [],
    },
    { ...settings.identity.tokens, issuer, types },
  );
const signed = (change: object = {}, header: Record<string, unknown> = {}) =>
  sign(key, { header, claims: claimsOf({ issuer, clock }, { ...change }) });
const judge = async (change: object, header?: Record<string, unknown>) =>
  outcome(verifier, await signed(change, header));

beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  key = { ...(await exportJWK(pair.privateKey)), kid: 'one', alg: 'ES256' };
  verifier = open([key], ['at+jwt', 'jwt', '']);
});

test('a token of 8,192 letters with its scheme is read, a longer one is not', async () => {
  let token = '';
  for (let length = 5_700; token.length < 8_180; length += 1)
    token = await signed({ padding: 'x'.repeat(length) });
  const of = (length: number) => `Bearer${' '.repeat(length - 'Bearer'.length - token.length)}${token}`;
  expect(await verifier.verify(of(8_192))).toMatchObject({ subject: 'user_1' });
  expect(await verifier.verify(of(8_193))).toMatchObject({ refusal: { code: 'malformed' } });
});

test('blanks around the header are no part of it', async () => {
  expect(await verifier.verify(`  Bearer ${await signed()} `)).toMatchObject({ subject: 'user_1' });
});

test('who has no verified e-mail has no field for it', async () => {
  const answer = await verifier.verify(`Bearer ${await signed({ email: undefined })}`);
  expect(answer).toStrictEqual({ subject: 'user_1', wallets: [] });
});

test('a token without the name of a key is refused though a key has no name either', async () => {
  const nameless = open([{ ...key, kid: '' }], ['at+jwt']);
  for (const kid of ['', undefined])
    expect(await outcome(nameless, await signed({}, { kid }))).toBe('unknown_key');
});

test.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'application/jwt', undefined, ''])(
  'takes the type %j where it is among the accepted',
  async (typ) => {
    expect(await judge({}, { typ })).toBe('accepted');
  },
);

test.each(['japplication/wt', 'id_token+jwt', 'jwt+', 5, null])('refuses the type %j', async (typ) => {
  expect(await judge({}, { typ })).toBe('type');
});

test('no type is refused where none is accepted', async () => {
  expect(await outcome(open([key], ['at+jwt']), await signed({}, { typ: undefined }))).toBe('type');
});

test.each(['nonce', 'at_hash', 'c_hash', 's_hash'])(
  'a token with %s is an identity token, unless its type says access',
  async (name) => {
    expect(await judge({ [name]: 'x' }, { typ: 'JWT' })).toBe('type');
    expect(await judge({ [name]: 'x' }, { typ: 'at+jwt' })).toBe('accepted');
  },
);

test.each([
  [{ token_use: 'access' }, 'accepted'],
  [{ token_use: 'paid' }, 'accepted'],
  [{ typ: 'Bearer' }, 'accepted'],
  [{ token_use: null }, 'accepted'],
  [{ token_use: 'id' }, 'type'],
  [{ token_use: 'access', typ: 'logout' }, 'type'],
  [{ typ: 'Refresh' }, 'type'],
])('of its own word for what it is for, %j', async (change, verdict) => {
  expect(await judge(change, { typ: 'JWT' })).toBe(verdict);
});

test.each([
  ['x'.repeat(255), 'accepted'],
  ['x'.repeat(256), 'claims'],
  [['user_1'], 'claims'],
  [{ length: 6 }, 'claims'],
])('of subjects: %j', async (sub, verdict) => {
  expect(await judge({ sub })).toBe(verdict);
});
