/** The set of a provider's keys by itself: which of them is found, to the millisecond until when, and what is told of failures. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createKeySet, type KeySet } from '../../src/identity/key-set.ts';
import { adjustableClock } from '../../src/lib/clock.ts';
import { recordingLog } from './providers.ts';

const FRESH_MS = 60_000;
const STALE_MS = 600_000;
const COOLDOWN_MS = 1_000;
const WARNING = "the identity provider's keys cannot be fetched";

const publicKey = async (alg: string, more: object = {}): Promise<JWK> =>
  exportJWK((await generateKeyPair(alg, { extractable: true })).publicKey).then((key) => ({
    ...key,
    kid: 'one',
    ...more,
  }));

let elliptic: JWK;
let load: () => Promise<unknown>;
let loads: number;
let clock: ReturnType<typeof adjustableClock>;
let recording: ReturnType<typeof recordingLog>;
let set: KeySet;

const publishes = (...keys: unknown[]) => {
  load = async () => ({ keys });
};
const find = (algorithm = 'ES256', keyId = 'one') => set.find({ keyId, algorithm });
/** Of an answer that needs no other process and no other thread: whether it is there by now. */
const atOnce = (work: Promise<unknown>) =>
  Promise.race([work, new Promise((resolve) => setImmediate(resolve, 'waits'))]);
const never = () => new Promise<never>(() => {});

beforeAll(async () => {
  elliptic = await publicKey('ES256');
});
beforeEach(() => {
  loads = 0;
  clock = adjustableClock({ frozen: true });
  recording = recordingLog();
  publishes(elliptic);
  const deps = {
    load() {
      loads += 1;
      return load();
    },
    clock,
    log: recording.log,
  };
  set = createKeySet(deps, { freshMs: FRESH_MS, staleMs: STALE_MS, cooldownMs: COOLDOWN_MS });
});

test('keys are fresh up to the last millisecond, and not a millisecond longer', async () => {
  await find();
  clock.advance(FRESH_MS);
  await find();
  expect(loads).toBe(1);
  clock.advance(1);
  await find();
  expect(loads).toBe(2);
});

test('no request waits for a provider while older keys serve, up to the last millisecond', async () => {
  const key = await find();
  load = never;
  clock.advance(FRESH_MS + 1);
  expect(await atOnce(find())).toBe(key);
  clock.advance(STALE_MS - 1);
  expect(await atOnce(find())).toBe(key);
  clock.advance(1);
  expect(await atOnce(find())).toBe('waits');
});

test('keys that took long to come serve by when they were asked for', async () => {
  let tookMs = FRESH_MS + STALE_MS + 1;
  load = async () => {
    clock.advance(tookMs);
    return { keys: [elliptic] };
  };
  expect(await find()).toBe('unavailable');
  tookMs -= 1;
  expect(await find()).toHaveProperty('type', 'public');
});

test('an issuer that knows it has new keys waits for no pause, and for the question that is under way', async () => {
  await find();
  await set.refresh();
  expect(loads).toBe(2);
  clock.advance(COOLDOWN_MS);
  let answer: (document: unknown) => void = () => {};
  load = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const asked = find('ES256', 'none');
  await expect.poll(() => loads).toBe(3);
  const refreshed = set.refresh();
  const earlier = answer;
  publishes({ ...elliptic, kid: 'two' });
  earlier({ keys: [elliptic] });
  expect(await asked).toBeUndefined();
  await refreshed;
  expect(loads).toBe(4);
  expect(await find('ES256', 'two')).toBeDefined();
  expect(await find()).toBeUndefined();
});

test('a key is read once', async () => {
  const key = await find();
  expect(key).toHaveProperty('type', 'public');
  expect(await find()).toBe(key);
});

test('of one name, the key is found that fits the algorithm', async () => {
  const [rsa, larger, edwards, other] = await Promise.all([
    publicKey('RS256'),
    publicKey('ES384'),
    publicKey('EdDSA'),
    publicKey('EdDSA', { crv: 'Ed448', x: Buffer.alloc(57, 1).toString('base64url') }),
  ]);
  publishes(rsa, elliptic, larger, edwards, other);
  const algorithmOf = async (algorithm: string) => {
    const key = await find(algorithm);
    return typeof key === 'object' ? JSON.parse(JSON.stringify(key.algorithm)) : key;
  };
  expect(await algorithmOf('RS256')).toMatchObject({ name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048 });
  expect(await algorithmOf('ES256')).toEqual({ name: 'ECDSA', namedCurve: 'P-256' });
  expect(await algorithmOf('ES384')).toEqual({ name: 'ECDSA', namedCurve: 'P-384' });
  expect(await algorithmOf('EdDSA')).toEqual({ name: 'Ed25519' });
  for (const algorithm of ['ES512', 'HS256', 'none', '', 'RSA'])
    expect(await algorithmOf(algorithm), algorithm).toBeUndefined();
});

test('a key of an algorithm that is never accepted is no usable key', async () => {
  publishes({ kty: 'oct', k: 'AAAA', kid: 'one', alg: 'HS256' });
  expect(await find('HS256')).toBe('unavailable');
  expect(recording.logged).toEqual([`{"error":"the key set has no usable key"} ${WARNING}`]);
});

test.each([
  ['no object', 5],
  ['null', null],
  ['text', 'one'],
  ['without a name', { kty: 'EC', crv: 'P-256' }],
])('what is %s beside a key does no harm', async (_name, entry) => {
  publishes(entry, elliptic);
  expect(await find()).toHaveProperty('type', 'public');
});

test('a key without a name, or one that is no text, is no usable key', async () => {
  const { kid: _, ...nameless } = elliptic;
  for (const key of [nameless, { ...elliptic, kid: 5 }]) {
    publishes(key);
    expect(await set.ready()).toBe(false);
    clock.advance(COOLDOWN_MS);
  }
});

test.each([
  ['no key set', async () => ({ keys: {} }), 'the answer is not a key set'],
  ['nothing', async () => undefined, 'the answer is not a key set'],
  ['an error', () => Promise.reject(new Error('answered 503')), 'answered 503'],
  ['no error at all', () => Promise.reject('503'), 'unknown'],
])('the log says why there are no keys: %s', async (_name, answer, reason) => {
  load = answer;
  expect(await find()).toBe('unavailable');
  expect(recording.logged).toEqual([`{"error":"${reason}"} ${WARNING}`]);
});
