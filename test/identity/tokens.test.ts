/** Contract: Authentication, relay. Tokens that must not be taken, from two providers. */
import { createHmac, createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AUDIENCE,
  CHAT_USER,
  claimsOf,
  EMAIL,
  foreignProvider,
  outcome,
  ownProvider,
  type Provider,
  part,
  sign,
  WALLET,
} from './providers.ts';

describe.each([
  { name: 'our own issuer', open: ownProvider },
  { name: 'oauth2-mock-server', open: foreignProvider },
])('$name', ({ open }) => {
  let provider: Provider;
  let attacker: JWK & { alg: string };
  let visits = 0;
  const trap = createServer((_request, response) => {
    visits += 1;
    response.end(JSON.stringify({ keys: [{ ...attacker, d: undefined, kid: 'theirs' }] }));
  });
  let trapUrl = '';

  beforeAll(async () => {
    provider = await open();
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    attacker = { ...(await exportJWK(privateKey)), alg: 'ES256' };
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/keys`;
  });
  afterAll(async () => {
    await provider.close();
    trap.close();
  });

  const claims = (change?: Record<string, unknown>) => claimsOf(provider, change);
  const now = () => Math.floor(provider.clock.now() / 1_000);
  const judge = (token: string | undefined) => outcome(provider.verifier, token);
  const signed = (change: Record<string, unknown>, header: Record<string, unknown> = {}) =>
    sign(provider.key, { header, claims: claims(change) });

  test('takes the token that the provider made, and knows whose it is', async () => {
    const answer = await provider.verifier.verify(`Bearer ${await provider.genuine()}`);
    expect(answer).toEqual({ subject: 'user_1', email: EMAIL, wallets: [WALLET] });
    expect(await provider.verifier.ready()).toBe(true);
  });

  test.each([
    ['as it should be', {}],
    ['several audiences', { aud: ['other', AUDIENCE] }],
    ['expired within the tolerance', { exp: -3 }],
    ['begins within the tolerance', { nbf: 3 }],
    ['without e-mail', { email: undefined }],
  ])('takes one %s', async (_name, change) => {
    const at = Object.fromEntries(
      Object.entries(change).map(([claim, value]) => [
        claim,
        typeof value === 'number' ? now() + value : value,
      ]),
    );
    expect(await judge(await signed(at))).toBe('accepted');
  });

  test('never gives the wallet of a chat user to the owner of a mailbox at the own domain', async () => {
    for (const email of [CHAT_USER, CHAT_USER.toUpperCase()]) {
      const answer = await provider.verifier.verify(`Bearer ${await signed({ email })}`);
      expect(answer).toEqual({ subject: 'user_1', email: CHAT_USER, wallets: [] });
    }
  });

  test.each([
    ['no expiry', () => ({ exp: undefined }), 'claims'],
    ['no moment of issue', () => ({ iat: undefined }), 'claims'],
    ['no subject', () => ({ sub: undefined }), 'claims'],
    ['no issuer', () => ({ iss: undefined }), 'claims'],
    ['no audience', () => ({ aud: undefined }), 'claims'],
    ['an empty subject', () => ({ sub: '' }), 'claims'],
    ['a subject that is a number', () => ({ sub: 5 }), 'claims'],
    ['a subject without end', () => ({ sub: 'x'.repeat(256) }), 'claims'],
    ['an expiry in words', () => ({ exp: String(now() + 600) }), 'claims'],
    ['an expiry in a list', () => ({ exp: [now() + 600] }), 'claims'],
    ['a beginning in words', () => ({ nbf: String(now()) }), 'claims'],
    ['a moment of issue in words', () => ({ iat: String(now()) }), 'claims'],
    ['an expiry of null', () => ({ exp: null }), 'claims'],
    ['another audience', () => ({ aud: 'other' }), 'audience'],
    ['a longer audience', () => ({ aud: `${AUDIENCE}-admin` }), 'audience'],
    ['an audience in capitals', () => ({ aud: AUDIENCE.toUpperCase() }), 'audience'],
    ['other audiences', () => ({ aud: ['a', 'b'] }), 'audience'],
    ['no audiences', () => ({ aud: [] }), 'audience'],
    ['an audience that is an object', () => ({ aud: { [AUDIENCE]: true } }), 'audience'],
    ['another issuer', () => ({ iss: 'https://evil.example' }), 'issuer'],
    ['the issuer with a slash', () => ({ iss: `${provider.issuer}/` }), 'issuer'],
    ['the issuer in a list', () => ({ iss: [provider.issuer] }), 'issuer'],
    ['its time over', () => ({ exp: now() - 6 }), 'expired'],
    ['its time long over', () => ({ iat: now() - 7_200, exp: now() - 3_600 }), 'expired'],
    ['an expiry of zero', () => ({ exp: 0 }), 'expired'],
    ['its time still to come', () => ({ nbf: now() + 10 }), 'not_yet_valid'],
    ['an issue in the future', () => ({ iat: now() + 10 }), 'not_yet_valid'],
    ['too great an age', () => ({ iat: now() - 31 * 86_400 }), 'too_old'],
  ])('refuses one with %s', async (_name, change, code) => {
    expect(await judge(await signed(change()))).toBe(code);
  });

  test('refuses an expiry that never comes', async () => {
    const text = JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999');
    expect(await judge(await sign(provider.key, { claims: text }))).toBe('claims');
  });

  test.each([
    ['an identity token by its type', { typ: 'id_token+jwt' }, {}],
    ['a logout token', { typ: 'logout+jwt' }, {}],
    ['a type that is no text', { typ: 5 }, {}],
    ['no type', { typ: undefined }, {}],
    ['an identity token by its nonce', { typ: 'JWT' }, { nonce: 'x' }],
    ['an identity token by its hash', { typ: 'JWT' }, { at_hash: 'x' }],
    ['an identity token by its use', { typ: 'JWT' }, { token_use: 'id' }],
    ['an identity token by its kind', { typ: 'JWT' }, { typ: 'ID' }],
    ['a refresh token', { typ: 'JWT' }, { typ: 'Refresh' }],
    ['an identity token that has only its type', { typ: 'JWT' }, { scope: undefined }],
    ['an empty scope', { typ: 'JWT' }, { scope: ' ', scp: [] }],
    ['a scope that is no text', { typ: 'JWT' }, { scope: true, scp: [1] }],
  ])('refuses %s', async (_name, header, change) => {
    expect(await judge(await signed(change, header))).toBe('type');
  });

  test.each(['none', 'None', 'NONE', 'nOnE', ''])('refuses no signature at all, as %j', async (alg) => {
    const [, payload = '', signature = ''] = (await signed({})).split('.');
    const header = part({ alg, kid: provider.key.kid, typ: 'at+jwt' });
    for (const end of ['', signature]) {
      expect(await judge(`${header}.${payload}.${end}`)).toMatch(/^(algorithm|malformed)$/);
    }
  });

  test.each(['HS256', 'HS384', 'HS512'])('refuses its public key used as a secret with %s', async (alg) => {
    const { kty, n, e, crv, x, y } = provider.key;
    const jwk = JSON.parse(JSON.stringify({ kty, n, e, crv, x, y }));
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const secrets: (string | Buffer)[] = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(jwk),
      Buffer.from(n ?? x ?? '', 'base64url'),
      '',
    ];
    for (const secret of secrets) {
      const text = `${part({ alg, kid: provider.key.kid, typ: 'at+jwt' })}.${part(claims())}`;
      const mac = createHmac(`sha${alg.slice(2)}`, secret)
        .update(text)
        .digest('base64url');
      expect(await judge(`${text}.${mac}`)).toBe('algorithm');
    }
  });

  test('refuses a signature under another algorithm', async () => {
    const [, payload, signature] = (await signed({})).split('.');
    const others = ['RS256', 'RS384', 'PS256', 'ES256', 'ES384', 'EdDSA'].filter(
      (alg) => alg !== provider.key.alg,
    );
    for (const alg of others) {
      const header = part({ alg, kid: provider.key.kid, typ: 'at+jwt' });
      expect(await judge(`${header}.${payload}.${signature}`)).toMatch(/^(unknown_key|signature)$/);
    }
  });

  test.each([undefined, '', 'nobody', '../../etc/passwd', '__proto__', "' OR 1=1 --", 5, null, ['a']])(
    'refuses the key name %j',
    async (kid) => {
      const token = await sign(attacker, { header: { kid }, claims: claims() });
      expect(await judge(token)).toBe('unknown_key');
    },
  );

  test('refuses a foreign key under the name of a known one', async () => {
    const token = await sign(attacker, { header: { kid: provider.key.kid }, claims: claims() });
    expect(await judge(token)).toMatch(/^(unknown_key|signature)$/);
  });

  test('never asks the token for its key', async () => {
    const { d: _, ...publicKey } = attacker;
    const { port } = trap.address() as AddressInfo;
    for (const kid of [provider.key.kid, 'theirs']) {
      for (const hint of [
        { jwk: publicKey },
        { jku: trapUrl },
        { x5u: trapUrl },
        { jku: `${provider.issuer}@127.0.0.1:${port}/` },
        { x5c: ['MIIB'] },
        { jwk: publicKey, jku: trapUrl, x5u: trapUrl },
      ]) {
        const token = await sign(attacker, { header: { kid, ...hint }, claims: claims() });
        expect(await judge(token)).not.toBe('accepted');
      }
    }
    expect(visits).toBe(0);
  });

  test('refuses critical extensions, and a payload outside the token', async () => {
    const [, payload, signature] = (await signed({})).split('.');
    for (const extra of [{ crit: ['exp'] }, { crit: [] }, { crit: ['b64'], b64: false }, { crit: 'x' }]) {
      const header = part({ alg: provider.key.alg, kid: provider.key.kid, typ: 'at+jwt', ...extra });
      expect(await judge(`${header}.${payload}.${signature}`)).not.toBe('accepted');
    }
  });

  test('refuses every other spelling', async () => {
    const token = await signed({});
    const [header = '', payload = '', signature = ''] = token.split('.');
    const wrong = [
      ...['', 'x', '.', '..', 'a.b', 'a.b.c', 'a.b.c.d', 'a.b.c.d.e', '{}', 'null', '🙂.🙂.🙂'],
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `.${payload}.${signature}`,
      `${token}.`,
      `${token}=`,
      `${token}\u0000`,
      `${token} ${token}`,
      `${token},${token}`,
      `"${token}"`,
      token.slice(0, -8),
      token.replaceAll('.', '%2E'),
      `${part('{')}.${payload}.${signature}`,
      `${part('[]')}.${payload}.${signature}`,
      `${part('null')}.${payload}.${signature}`,
      `${part('{"alg":"none","alg":"ES256"}')}.${payload}.${signature}`,
      `${header}.${part('[]')}.${signature}`,
      `${header}.${part({ ...claims(), sub: 'user_2' })}.${signature}`,
      `${header}.${payload}.${signature.split('').reverse().join('')}`,
      `${header}.${payload}.${'A'.repeat(signature.length)}`,
      `${'A'.repeat(9_000)}.${payload}.${signature}`,
      `${header}.${'A'.repeat(10_000_000)}.${signature}`,
    ];
    for (const text of wrong) expect(await judge(text), text.slice(0, 60)).not.toBe('accepted');
    expect(await judge('A'.repeat(8_186))).toBe('malformed');
    const { verify } = provider.verifier;
    for (const value of [
      undefined,
      '',
      ' ',
      token,
      `Basic ${token}`,
      'Bearer',
      `Bearer${token}`,
      `Token ${token}`,
    ]) {
      expect(await verify(value)).toMatchObject({ refusal: { code: 'missing' } });
    }
    expect(await verify(`bearer  ${token}`)).toMatchObject({ subject: 'user_1' });
  });

  test('refuses signed content that is no claims', async () => {
    for (const text of ['', '[]', 'null', '5', '"x"', '{', '\u0000'])
      expect(await judge(await sign(provider.key, { claims: text }))).toBe('malformed');
  });

  test('takes no wallet from an e-mail that the provider does not vouch for', async () => {
    for (const verified of [undefined, false, 'true', 1, null]) {
      const token = await signed({ email_verified: verified });
      expect(await provider.verifier.verify(`Bearer ${token}`)).toEqual({ subject: 'user_1', wallets: [] });
    }
    const stranger = await signed({ email: 'nobody@demo.example' });
    expect(await provider.verifier.verify(`Bearer ${stranger}`)).toMatchObject({ wallets: [] });
  });

  test('whatever is changed in a token, it is not taken', async () => {
    const token = await provider.genuine();
    const signedUpTo = token.lastIndexOf('.');
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
    await fc.assert(
      fc.asyncProperty(fc.nat(signedUpTo - 1), fc.nat(letters.length - 1), async (place, letter) => {
        const other = letters[letter] ?? '';
        fc.pre(token[place] !== other);
        expect(await judge(token.slice(0, place) + other + token.slice(place + 1))).not.toBe('accepted');
      }),
      { numRuns: 300 },
    );
  });

  test('of claims that the provider signed, it takes exactly the right ones', async () => {
    const odd = fc.oneof(
      fc.constantFrom(undefined, null, '', 0, -1, true, [], {}),
      fc.string({ maxLength: 12 }),
      fc.integer(),
      fc.double({ noNaN: true }),
    );
    const seconds = fc.integer({ min: -4_000_000, max: 4_000_000 }).map((offset) => now() + offset);
    const mutation = fc.record(
      {
        iss: fc.oneof(fc.constant(provider.issuer), odd),
        aud: fc.oneof(fc.constant(AUDIENCE), fc.array(fc.constantFrom(AUDIENCE, 'b', 'c')), odd),
        sub: fc.oneof(fc.constant('user_1'), odd),
        exp: fc.oneof(seconds, odd),
        iat: fc.oneof(seconds, odd),
        nbf: fc.oneof(seconds, odd),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(mutation, async (change) => {
        const all = JSON.parse(JSON.stringify(claims(change)));
        const numbers = [all.exp, all.iat, all.nbf ?? 0].every((value) => typeof value === 'number');
        const right =
          all.iss === provider.issuer &&
          (all.aud === AUDIENCE || (Array.isArray(all.aud) && all.aud.includes(AUDIENCE))) &&
          typeof all.sub === 'string' &&
          all.sub.length > 0 &&
          numbers &&
          all.nbf !== null &&
          all.exp > now() - 5 &&
          (all.nbf ?? 0) <= now() + 5 &&
          all.iat <= now() + 5 &&
          all.iat >= now() - 30 * 86_400 - 5;
        const token = await sign(provider.key, { claims: all });
        expect((await judge(token)) === 'accepted', JSON.stringify(all)).toBe(right);
      }),
      { numRuns: 300 },
    );
  });

  test('says nothing of any token in its log or its refusals', async () => {
    const token = await signed({ aud: 'secret-audience', sub: 'secret-subject' });
    const answer = JSON.stringify(await provider.verifier.verify(`Bearer ${token}`));
    expect(answer).not.toMatch(/secret/);
    for (const line of provider.logged) expect(line).not.toMatch(/eyJ|secret|Bearer/);
  });
});
