/**
 * The provider's public keys, kept: a rotation is noticed within a second, an outage of the provider does no harm for
 * ten minutes, and tokens of unknown keys cannot make us ask it more than once a second.
 */
import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

export interface KeySetSettings {
  /** Keys older than this are fetched anew, while the ones at hand go on serving. */
  freshMs: number;
  /** For how long beyond that they serve while the provider is unreachable. */
  staleMs: number;
  /** Least time between two fetches. */
  cooldownMs: number;
}

export interface KeySet {
  /** Undefined when the provider has no such key; `'unavailable'` when it cannot be asked and nothing usable is kept. */
  find(wanted: { keyId: string; algorithm: string }): Promise<CryptoKey | undefined | 'unavailable'>;
  ready(): Promise<boolean>;
  /** Fetches at once, for an issuer that knows it has changed its keys. */
  refresh(): Promise<void>;
}

/** A set with more keys is refused: no provider publishes as many. */
const KEYS_MAX = 100;

/** What a key must be to be used with an algorithm; an algorithm that is not listed is never accepted. */
const keyForms: Record<string, { kty: string; crv?: string }> = {
  ...Object.fromEntries(
    ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg) => [alg, { kty: 'RSA' }]),
  ),
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
};

/** The signatures that are ever accepted: those whose key the verifier need not keep secret. */
export const asymmetricAlgorithms = Object.keys(keyForms);

interface Loaded {
  keys: JWK[];
  atMs: number;
  imported: Map<string, Promise<CryptoKey | undefined>>;
}

/** `load` asks the provider once; `clock` is real time, since it paces real requests. */
export function createKeySet(
  deps: { load: () => Promise<unknown>; clock: Pick<Clock, 'now'>; log: Log },
  { freshMs, staleMs, cooldownMs }: KeySetSettings,
): KeySet {
  let loaded: Loaded | undefined;
  let askedAtMs: number | undefined;
  let asking: Promise<boolean> | undefined;

  /** A clock that was set back says nothing about how long ago something was. */
  const since = (ms: number | undefined) => {
    const elapsedMs = ms === undefined ? Number.POSITIVE_INFINITY : deps.clock.now() - ms;
    return elapsedMs < 0 ? Number.POSITIVE_INFINITY : elapsedMs;
  };
  /** Fetches the set; true when it is new. One fetch serves all waiting callers. */
  const ask = (now = false): Promise<boolean> => {
    if (asking) return asking;
    if (!now && since(askedAtMs) < cooldownMs) return Promise.resolve(false);
    const atMs = deps.clock.now();
    askedAtMs = atMs;
    asking = deps
      .load()
      .then((document) => {
        loaded = { keys: usableKeys(document), atMs, imported: new Map() };
        return true;
      })
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : 'unknown';
        deps.log.warn({ error: reason }, "the identity provider's keys cannot be fetched");
        return false;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  const atHand = async (): Promise<Loaded | undefined> => {
    const ageMs = since(loaded?.atMs);
    if (ageMs <= freshMs) return loaded;
    const asked = ask();
    if (ageMs <= freshMs + staleMs) return loaded;
    await asked;
    return since(loaded?.atMs) <= freshMs + staleMs ? loaded : undefined;
  };

  return {
    async find(wanted) {
      const known = await atHand();
      if (!known) return 'unavailable';
      const key = await keyIn(known, wanted);
      if (key || !(await ask())) return key;
      return loaded && keyIn(loaded, wanted);
    },
    ready: async () => (await atHand()) !== undefined,
    async refresh() {
      await asking;
      await ask(true);
    },
  };
}

/** The one key of this name that fits the algorithm; two of them would leave open whose signature it is. */
function keyIn(
  { keys, imported }: Loaded,
  { keyId, algorithm }: { keyId: string; algorithm: string },
): Promise<CryptoKey | undefined> {
  const [jwk, ...others] = keys.filter((key) => key.kid === keyId && fits(key, algorithm));
  if (!jwk || others.length > 0) return Promise.resolve(undefined);
  const name = `${algorithm} ${keyId}`;
  const known = imported.get(name);
  if (known) return known;
  const { kty, n, e, crv, x, y } = jwk;
  // Only its public parts, whatever else was published.
  const key = importJWK({ ...JSON.parse(JSON.stringify({ kty, n, e, crv, x, y })) }, algorithm).then(
    (made) => (made instanceof Uint8Array ? undefined : made),
    () => undefined,
  );
  imported.set(name, key);
  return key;
}

/** 2048 bits in base64url: shorter RSA keys are guessable. */
const RSA_LETTERS_MIN = 342;

function fits(key: JWK, algorithm: string): boolean {
  const form = keyForms[algorithm];
  return (
    form !== undefined &&
    key.kty === form.kty &&
    (form.crv === undefined || key.crv === form.crv) &&
    (form.kty !== 'RSA' || (typeof key.n === 'string' && key.n.length >= RSA_LETTERS_MIN)) &&
    (key.alg === undefined || key.alg === algorithm) &&
    (key.use === undefined || key.use === 'sig') &&
    (key.key_ops === undefined || (Array.isArray(key.key_ops) && key.key_ops.includes('verify')))
  );
}

/** Throws when the document is not a key set, or has no usable key. */
export function usableKeys(document: unknown): JWK[] {
  const { keys } = (document ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys) || keys.length > KEYS_MAX) throw new Error('the answer is not a key set');
  const usable = keys.filter(
    (key: unknown): key is JWK =>
      typeof key === 'object' && key !== null && typeof (key as JWK).kid === 'string',
  );
  if (!usable.some((key) => asymmetricAlgorithms.some((algorithm) => fits(key, algorithm)))) {
    throw new Error('the key set has no usable key');
  }
  return usable;
}
