/** The emulator's own identity provider: signs with a key pair that stays in its ledger, by the emulator's clock. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { jwksVerifier, type TokenSettings } from '../identity/jwks.ts';
import { createKeySet, type KeySetSettings } from '../identity/key-set.ts';
import { walletsByClaim } from '../identity/token-wallets.ts';
import type { PublicKey, TokenIssuer, TokenVerifier } from '../identity/tokens.ts';
import type { Database, Queries } from '../ledger/database/database.ts';
import { readFact, writeFact } from '../ledger/facts.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

const ALGORITHM = 'ES256';
/** Earlier keys stay published until everything that they signed is long expired or someone revokes them. */
const KEYS_KEPT = 5;

interface LocalIdentity {
  issuer: TokenIssuer;
  verifier: TokenVerifier;
  /** Lets the verifier see keys that have just changed. */
  refreshKeys: () => Promise<void>;
  /** Sets the issuer's address, which is its name; known only once a listener is open. */
  announce(url: string): void;
}

/** An issuer, and a verifier that trusts only this issuer. `realClock` paces the refresh of its keys. */
export async function openLocalIdentity(
  deps: {
    database: Database;
    clock: Pick<Clock, 'now'>;
    realClock: Pick<Clock, 'now'>;
    random: { uuid(): string };
    log: Log;
  },
  settings: { keys: KeySetSettings; tokens: Omit<TokenSettings, 'issuer'>; ownDomain: string },
): Promise<LocalIdentity> {
  let url = '';
  const issuer = await openLocalIssuer(deps, {
    audience: settings.tokens.audience,
    get url() {
      return url;
    },
  });
  const keys = createKeySet(
    { load: async () => ({ keys: issuer.keys() }), clock: deps.realClock, log: deps.log },
    settings.keys,
  );
  const walletsOf = walletsByClaim(deps.database.db, { claim: 'email', ownDomain: settings.ownDomain });
  const verifier = jwksVerifier(
    { keys, clock: deps.clock, walletsOf },
    {
      ...settings.tokens,
      get issuer() {
        return url;
      },
    },
  );
  return {
    issuer,
    verifier,
    refreshKeys: keys.refresh,
    announce(at) {
      url = at;
    },
  };
}

/** `settings.url` is what `iss` says; it is read at each call, since it is known only once the listener is open. */
async function openLocalIssuer(
  deps: { database: Database; clock: Pick<Clock, 'now'>; random: { uuid(): string } },
  settings: { url: string; audience: string },
): Promise<TokenIssuer> {
  const { database, clock, random } = deps;
  // Written once, so that two processes that start on one ledger sign with the same key.
  let keys = await database.atomically(async (tx) => {
    const kept = await readFact(tx, 'identityKeys');
    return kept && kept.length > 0 ? kept : keep(tx, [await newKey()]);
  });
  const signingKey = () => {
    const [key] = keys;
    if (!key) throw new Error('the issuer has no key');
    return key;
  };

  return {
    async issue({ subject, email, wallet, expiresAtMs, audience }) {
      const key = signingKey();
      return new SignJWT({
        email,
        email_verified: true,
        wallets: [wallet],
        client_id: 'rewards-emulator',
      })
        .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: 'at+jwt' })
        .setIssuer(settings.url)
        .setAudience(audience ?? settings.audience)
        .setSubject(subject)
        .setJti(random.uuid())
        .setIssuedAt(Math.floor(clock.now() / 1_000))
        .setExpirationTime(Math.floor(expiresAtMs / 1_000))
        .sign(await importJWK(key, ALGORITHM));
    },
    async rotate({ revoke }) {
      const fresh = await newKey();
      keys = await database.atomically(async (tx) => {
        const kept = revoke ? [] : ((await readFact(tx, 'identityKeys')) ?? []);
        return keep(tx, [fresh, ...kept].slice(0, KEYS_KEPT));
      });
      return { keyId: fresh.kid, published: keys.map(({ kid }) => kid) };
    },
    keys: () => keys.map(publicPart),
    configuration: () => ({
      issuer: settings.url,
      jwks_uri: `${settings.url}/jwks`,
      response_types_supported: ['none'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ALGORITHM],
      claims_supported: ['iss', 'aud', 'sub', 'exp', 'iat', 'jti', 'email', 'email_verified', 'wallets'],
    }),
  };
}

type PrivateKey = JWK & { kid: string };

async function newKey(): Promise<PrivateKey> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}

async function keep(tx: Queries, keys: PrivateKey[]): Promise<PrivateKey[]> {
  await writeFact(tx, 'identityKeys', keys);
  return keys;
}

const publicPart = ({ kty, crv, x, y, kid }: PrivateKey): PublicKey => ({
  kty,
  crv,
  x,
  y,
  kid,
  use: 'sig',
  alg: ALGORITHM,
});
