/** Keys come and go, and the provider is away: what is fetched, how often, and how long old keys serve. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { settings } from '../../src/compose/config.ts';
import { providerTokens } from '../../src/identity/provider.ts';
import { walletsByClaim } from '../../src/identity/token-wallets.ts';
import type { TokenVerifier } from '../../src/identity/tokens.ts';
import { adjustableClock } from '../../src/lib/clock.ts';
import { CHAT_USER, claimsOf, EMAIL, outcome, recordingLog, sign, someLedger, WALLET } from './providers.ts';

type Key = JWK & { kid: string; alg: string };

const MINUTE_MS = 60_000;
let database: Awaited<ReturnType<typeof someLedger>>;
let keys: Key[];
let published: unknown;
let fetches = 0;
/** In place of the key set. */
let misbehave: RequestListener | undefined;
let server: ReturnType<typeof createServer>;
let issuer = '';
let clock: ReturnType<typeof adjustableClock>;
let verifier: TokenVerifier;
let logged: string[];
/** Long enough for a busy machine, unless a test waits for its end. */
let limits: { timeoutMs: number; bytesMax: number };

const publicPart = ({ d: _, p, q, dp, dq, qi, ...rest }: Key) => rest;
const makeKey = async (kid: string, alg = 'ES256', more = {}): Promise<Key> => ({
  ...(await exportJWK((await generateKeyPair(alg, { extractable: true, ...more })).privateKey)),
  kid,
  alg,
});
const tokenOf = (key: Key | undefined, change = {}) => {
  if (!key) throw new Error('no key');
  return sign(key, { claims: claimsOf({ issuer, clock }, change) });
};
const judge = async (key: Key | undefined) => outcome(verifier, await tokenOf(key));

const listen = (port = 0) =>
  new Promise<void>((resolve) => {
    server = createServer((request, response) => {
      fetches += 1;
      if (misbehave) return misbehave(request, response);
      response.end(JSON.stringify(published));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
const close = () =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

beforeAll(async () => {
  database = await someLedger();
  keys = await Promise.all(['first', 'second', 'third'].map((kid) => makeKey(kid)));
});
afterAll(() => database.close());
beforeEach(async () => {
  await listen();
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  clock = adjustableClock({ frozen: true });
  const recording = recordingLog();
  logged = recording.logged;
  misbehave = undefined;
  limits = { timeoutMs: 10_000, bytesMax: 64 * 1024 };
  fetches = 0;
  published = { keys: keys.slice(0, 1).map(publicPart) };
  verifier = providerTokens(
    { db: database.db, clock, realClock: clock, log: recording.log },
    {
      ...settings.identity,
      fetch: limits,
      tokens: { ...settings.identity.tokens, issuer },
      jwksUrl: `${issuer}/jwks`,
      walletClaim: 'wallets',
      ownDomain: 'rewards.example',
    },
  );
});
afterEach(close);

test('a set of 100 keys is searched, one of 101 is no key set', async () => {
  const [own] = keys.map(publicPart);
  const others = (count: number) =>
    Array.from({ length: count }, (_, place) => ({ ...own, kid: `other-${place}` }));
  published = { keys: [...others(100), own] };
  expect(await judge(keys[0])).toBe('keys_unavailable');
  clock.advance(2_000);
  published = { keys: [...others(99), own] };
  expect(await judge(keys[0])).toBe('accepted');
});

test('one fetch serves many callers, and for a minute', async () => {
  const token = await tokenOf(keys[0]);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcome(verifier, token)));
  expect(new Set(outcomes)).toEqual(new Set(['accepted']));
  clock.advance(MINUTE_MS - 1);
  expect(await judge(keys[0])).toBe('accepted');
  expect(fetches).toBe(1);
  clock.advance(2);
  expect(await judge(keys[0])).toBe('accepted');
  await expect.poll(() => fetches).toBe(2);
});

test('unknown keys cause one fetch a second, however many they are', async () => {
  await judge(keys[0]);
  for (let second = 1; second <= 3; second++) {
    clock.advance(1_000);
    const strangers = Array.from({ length: 200 }, (_, index) =>
      judge({ ...(keys[1] as Key), kid: `no-${index}` }),
    );
    expect(new Set(await Promise.all(strangers))).toEqual(new Set(['unknown_key']));
    expect(fetches).toBe(1 + second);
  }
});

test('a new key is taken within a second, though strangers keep us asking; a withdrawn one ends within a minute', async () => {
  await judge(keys[0]);
  clock.advance(1_000);
  expect(await judge(keys[2])).toBe('unknown_key');
  published = { keys: keys.slice(1, 2).map(publicPart) };
  clock.advance(500);
  expect(await judge(keys[1])).toBe('unknown_key');
  clock.advance(500);
  expect(await judge(keys[1])).toBe('accepted');
  expect(await judge(keys[0])).toBe('unknown_key');

  published = { keys: keys.slice(2).map(publicPart) };
  clock.advance(MINUTE_MS + 1);
  await judge(keys[1]);
  await expect.poll(() => judge(keys[1])).toBe('unknown_key');
});

test('known keys serve for ten minutes while the provider is away, then every token is refused until it is back', async () => {
  await judge(keys[0]);
  await close();
  for (let minutes = 0; minutes < 10; minutes++) {
    clock.advance(MINUTE_MS);
    expect(await judge(keys[0]), `after ${minutes + 1} minutes`).toBe('accepted');
    expect(await judge(keys[1])).toBe('unknown_key');
    expect(await verifier.ready()).toBe(true);
  }
  clock.advance(MINUTE_MS + 1);
  expect(await judge(keys[0])).toBe('keys_unavailable');
  expect(await verifier.ready()).toBe(false);
  expect(logged.length).toBeGreaterThan(0);
  expect(logged.join()).not.toMatch(/eyJ|Bearer/);

  await listen(Number(new URL(issuer).port));
  clock.advance(1_000);
  expect(await judge(keys[0])).toBe('accepted');
  expect(await verifier.ready()).toBe(true);
});

test('without keys from the start every token is refused', async () => {
  await close();
  expect(await verifier.ready()).toBe(false);
  expect(await judge(keys[0])).toBe('keys_unavailable');
});

test('a clock that is set back does not keep old keys alive', async () => {
  await judge(keys[0]);
  published = { keys: keys.slice(1, 2).map(publicPart) };
  clock.set(clock.now() - 3_600_000);
  expect(await judge(keys[1])).toBe('accepted');
  expect(await judge(keys[0])).toBe('unknown_key');
});

const answers: Record<string, RequestListener> = {
  'an error': (_, response) => response.writeHead(500).end('{"keys":[]}'),
  'a redirect': (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  'no JSON': (_, response) => void response.end('<html>'),
  'no key set': (_, response) => void response.end('{"keys":{}}'),
  null: (_, response) => void response.end('null'),
  'no keys': (_, response) => void response.end('{"keys":[]}'),
  'only keys without a name': (_, response) => void response.end('{"keys":[{"kty":"EC"},null,5]}'),
  'too many keys': (_, response) =>
    void response.end(JSON.stringify({ keys: Array(101).fill({ kid: 'x' }) })),
  'too much': (_, response) => void response.end(`{"keys":[],"more":"${'x'.repeat(70_000)}"}`),
  'without end': (_, response) => {
    const more = () => response.write('x'.repeat(16_384), (error) => error || more());
    more();
  },
  'nothing, for ever': () => {},
  'a body that never ends': (_, response) => void response.writeHead(200).write('{"keys":'),
};
test.each(Object.entries(answers))('keys at hand outlive an answer that is %s', async (_name, answer) => {
  await judge(keys[0]);
  misbehave = answer;
  limits.timeoutMs = 300;
  clock.advance(2 * MINUTE_MS);
  expect(await judge(keys[0])).toBe('accepted');
  expect(await judge(keys[1])).toBe('unknown_key');
  clock.advance(10 * MINUTE_MS);
  expect(await judge(keys[0])).toBe('keys_unavailable');
});

test('of what is published, only sound public keys for signatures are used', async () => {
  const [first, second, third] = keys as [Key, Key, Key];
  const secret = Buffer.alloc(64, 7).toString('base64url');
  const small = await makeKey('small', 'RS256', { modulusLength: 2048 });
  const others: [string, Key, object][] = [
    ['a secret', { kty: 'oct', k: secret, kid: 'oct', alg: 'HS256' }, {}],
    ['for encryption', { ...second, kid: 'enc' }, { use: 'enc' }],
    ['for signing only', { ...second, kid: 'ops' }, { key_ops: ['sign'] }],
    ['of another algorithm', { ...second, kid: 'alg' }, { alg: 'ES384' }],
    ['of another curve', { ...second, kid: 'crv' }, { crv: 'P-384' }],
    ['too short', { ...small, kid: 'short' }, { n: String(small.n).slice(0, 171) }],
    ['without its number', { ...small, kid: 'none' }, { n: undefined }],
    ['off its curve', { ...second, kid: 'off' }, { x: second.y, y: second.x }],
  ];
  published = {
    keys: [publicPart(first), ...others.map(([, key, change]) => ({ ...publicPart(key), ...change }))],
  };
  expect(await judge(first)).toBe('accepted');
  for (const [name, key] of others) {
    expect(await judge(key), name).toMatch(/^(unknown_key|algorithm)$/);
  }
  // Two keys of one name leave open whose signature it is; a private key that was published is only read as public.
  published = { keys: [{ ...third }, publicPart(second), { ...publicPart(first), kid: 'second' }] };
  clock.advance(MINUTE_MS + 1_000);
  await judge(third);
  await expect.poll(() => judge(third)).toBe('accepted');
  expect(await judge(second)).toBe('unknown_key');
});

test('a key that says that it verifies signatures is used', async () => {
  published = { keys: [{ ...publicPart(keys[0] as Key), use: 'sig', key_ops: ['sign', 'verify'] }] };
  expect(await judge(keys[0])).toBe('accepted');
});

test.each(['RS256', 'PS384', 'ES512', 'EdDSA'])('takes %s', async (alg) => {
  const key = await makeKey('any', alg);
  published = { keys: [publicPart(key)] };
  expect(await judge(key)).toBe('accepted');
});

test('discovery: the issuer must name itself, and keys come over https or from this machine', async () => {
  const open = (at: string, jwksUrl?: string) =>
    providerTokens(
      { db: database.db, clock, realClock: clock, log: recordingLog().log },
      {
        ...settings.identity,
        tokens: { ...settings.identity.tokens, issuer: at },
        jwksUrl,
        walletClaim: 'email',
        ownDomain: 'rewards.example',
      },
    );
  const serve = (document: object) => {
    misbehave = ({ url }, response) =>
      void response.end(JSON.stringify(url?.includes('well-known') ? document : published));
  };
  serve({ issuer, jwks_uri: `${issuer}/keys` });
  expect(await open(issuer).ready()).toBe(true);
  for (const document of [
    { issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` },
    { issuer: 'https://other.example', jwks_uri: `${issuer}/keys` },
    { issuer },
    { issuer, jwks_uri: 'http://keys.example/keys' },
    { issuer, jwks_uri: 'file:///etc/passwd' },
    { issuer, jwks_uri: 5 },
    [],
  ]) {
    serve(document);
    expect(await open(issuer).ready(), JSON.stringify(document)).toBe(false);
  }
  expect(await open('http://idp.example').ready()).toBe(false);
  for (const address of [
    'http://keys.example',
    'http://localhost.keys.example',
    'http://keys-localhost',
    'ftp://127.0.0.1/keys',
    'no address',
  ])
    expect(() => open(issuer, address), address).toThrow('keys are fetched over https only');
  for (const address of ['https://keys.example', 'http://localhost:1/keys', 'http://[::1]:1/keys'])
    expect(() => open(issuer, address), address).not.toThrow();
});

test('wallets are where the setting says', async () => {
  const a = '0x00000000000000000000000000000000000000Aa';
  const b = '0x00000000000000000000000000000000000000bb';
  const [lower] = [a.toLowerCase()];
  const claims = {
    wallet: a,
    wallets: [a, b, a, 'no', 5, null],
    verified: [null, { address: a, chain: 'eip155' }, 5, { address: b }, {}, 'x'],
    'https://idp.example/wallet': b,
    nested: { deep: { address: a } },
  };
  const walletsIn = (claim: string) =>
    walletsByClaim(database.db, { claim, ownDomain: 'rewards.example' })({ claims });
  expect(await walletsIn('wallet')).toEqual([lower]);
  expect(await walletsIn('wallets')).toEqual([lower, b]);
  expect(await walletsIn('verified.address')).toEqual([lower, b]);
  expect(await walletsIn('https://idp.example/wallet')).toEqual([b]);
  expect(await walletsIn('nested.deep.address')).toEqual([lower]);
  for (const claim of ['none', 'wallet.address', 'nested', 'verified', '__proto__', 'constructor.name', ''])
    expect(await walletsIn(claim), claim).toEqual([]);
});

test('of a user no more than 100 accounts are read, at each step and in all', async () => {
  const account = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
  const accounts = Array.from({ length: 101 }, (_, n) => account(n));
  const walletsIn = (claim: string, claims: object) =>
    walletsByClaim(database.db, { claim, ownDomain: 'rewards.example' })({
      claims: claims as Record<string, unknown>,
    });
  expect(await walletsIn('wallets', { wallets: accounts })).toEqual(accounts.slice(0, 100));
  const each = accounts.map((address) => ({ address }));
  expect(await walletsIn('each.address', { each })).toEqual(accounts.slice(0, 100));
  const late = [...Array(100).fill({}), { address: account(7) }];
  expect(await walletsIn('late.address', { late })).toEqual([]);
  expect(await walletsIn('late.address', { late: late.slice(1) })).toEqual([account(7)]);
  expect(
    await walletsIn('two.wallets', { two: [{ wallets: accounts }, { wallets: [account(500)] }] }),
  ).toEqual(accounts.slice(0, 100));
});

test('the wallet of an e-mail is the ledger’s, and none for those at the own domain', async () => {
  const byEmail = (ownDomain: string, email: string | undefined) =>
    walletsByClaim(database.db, { claim: 'email', ownDomain })({ claims: { wallet: WALLET }, email });
  expect(await byEmail('rewards.example', EMAIL)).toEqual([WALLET]);
  expect(await byEmail('rewards.example', CHAT_USER)).toEqual([]);
  expect(await byEmail('REWARDS.example', CHAT_USER)).toEqual([]);
  expect(await byEmail('other.example', CHAT_USER)).toEqual([`0x${'5'.repeat(40)}`]);
  // Such a domain can have no mailbox.
  expect(await byEmail('no domain', EMAIL)).toEqual([WALLET]);
  expect(await byEmail('rewards.example', 'nobody@demo.example')).toEqual([]);
  expect(await byEmail('rewards.example', undefined)).toEqual([]);
});
