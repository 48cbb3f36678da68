/** Two identity providers, our own and another project's, with the keys to sign whatever an attacker or a bug could. */
import { base64url, CompactSign, importJWK, type JWK } from 'jose';
import { OAuth2Server } from 'oauth2-mock-server';
import { settings } from '../../src/compose/config.ts';
import { openLocalIdentity } from '../../src/emulator/local-issuer.ts';
import { providerTokens } from '../../src/identity/provider.ts';
import type { TokenVerifier } from '../../src/identity/tokens.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { readFact } from '../../src/ledger/facts.ts';
import { ensureWallets } from '../../src/ledger/wallets/wallets.ts';
import { adjustableClock, systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import type { Log } from '../../src/lib/log.ts';

export const AUDIENCE = 'rewards';
export const EMAIL = 'alice@demo.example';
/** Where chat users have their stand-in e-mails. */
export const OWN_DOMAIN = 'rewards.example';
export const CHAT_USER = `discord_5@${OWN_DOMAIN}`;
export const WALLET = '0x00000000000000000000000000000000000a11ce';

type Fields = Record<string, unknown>;

export interface Provider {
  name: string;
  issuer: string;
  verifier: TokenVerifier;
  clock: ReturnType<typeof adjustableClock>;
  /** The provider's own signing key. */
  key: JWK & { kid: string; alg: string };
  /** A token made by the provider's own means. */
  genuine: () => Promise<string>;
  /** Everything that was logged. */
  logged: string[];
  close: () => Promise<void>;
}

export function recordingLog(): { log: Log; logged: string[] } {
  const logged: string[] = [];
  const write = (fields: unknown, message: string) =>
    void logged.push(`${JSON.stringify(fields)} ${message}`);
  return { log: { debug: write, info: write, warn: write, error: write }, logged };
}

/** A ledger in memory that knows one user, and one of a chat platform. */
export async function someLedger() {
  const database = openSqlite(':memory:');
  await migrate(database);
  await database.atomically((tx) =>
    ensureWallets(tx, {
      userKeys: [EMAIL, CHAT_USER],
      addressAt: (index) => (index === 0 ? WALLET : `0x${'5'.repeat(40)}`),
      nowMs: 0,
    }),
  );
  return database;
}

export async function ownProvider(): Promise<Provider> {
  const database = await someLedger();
  const clock = adjustableClock({ frozen: true });
  const { log, logged } = recordingLog();
  const identity = await openLocalIdentity(
    { database, clock, realClock: systemClock(), random: secureRandom(clock), log },
    { ...settings.identity, ownDomain: OWN_DOMAIN },
  );
  const issuer = 'http://127.0.0.1:8787/_idp';
  identity.announce(issuer);
  const [key] = (await readFact(database.db, 'identityKeys')) ?? [];
  if (!key) throw new Error('no key');
  return {
    name: 'our own issuer',
    issuer,
    verifier: identity.verifier,
    clock,
    key: { ...key, alg: 'ES256' },
    genuine: () =>
      identity.issuer.issue({
        subject: 'user_1',
        email: EMAIL,
        wallet: WALLET,
        expiresAtMs: clock.now() + 3_600_000,
      }),
    logged,
    close: () => database.close(),
  };
}

/** Another project's provider, over HTTP, found by discovery; signs with RS256 and types its tokens `JWT`. */
export async function foreignProvider(): Promise<Provider> {
  const database = await someLedger();
  const server = new OAuth2Server();
  const key = await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const issuer = server.issuer.url ?? '';
  const clock = adjustableClock({ frozen: true });
  const { log, logged } = recordingLog();
  const verifier = providerTokens(
    { db: database.db, clock, realClock: systemClock(), log },
    {
      ...settings.identity,
      tokens: { ...settings.identity.tokens, issuer, types: ['at+jwt', 'jwt'] },
      walletClaim: 'email',
      ownDomain: 'Rewards.Example',
    },
  );
  return {
    name: 'oauth2-mock-server',
    issuer,
    verifier,
    clock,
    key,
    genuine: () =>
      server.issuer.buildToken({
        scopesOrTransform: (_header, payload) => {
          Object.assign(payload, { sub: 'user_1', aud: AUDIENCE, email: EMAIL, email_verified: true });
          Object.assign(payload, { scope: 'openid rewards' });
        },
      }),
    logged,
    async close() {
      await server.stop();
      await database.close();
    },
  };
}

/** Claims that are taken, with changes; an undefined one is left out. */
export function claimsOf({ issuer, clock }: Pick<Provider, 'issuer' | 'clock'>, change: Fields = {}): Fields {
  const now = Math.floor(clock.now() / 1_000);
  const claims = {
    iss: issuer,
    aud: AUDIENCE,
    sub: 'user_1',
    iat: now,
    exp: now + 600,
    email: EMAIL,
    email_verified: true,
    scope: 'rewards',
  };
  return Object.fromEntries(
    Object.entries({ ...claims, ...change }).filter(([, value]) => value !== undefined),
  );
}

/** Signs claims, or any other text, with any key under any header. */
export async function sign(
  key: JWK & { alg: string; kid?: string },
  { header = {}, claims }: { header?: Fields; claims: Fields | string },
): Promise<string> {
  const all = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const text = typeof claims === 'string' ? claims : JSON.stringify(claims);
  const signer = new CompactSign(new TextEncoder().encode(text));
  return signer.setProtectedHeader(kept as { alg: string }).sign(await importJWK(key, String(all.alg)));
}

/** A part of a token as it is, without anything that would check it. */
export const part = (value: unknown) =>
  base64url.encode(typeof value === 'string' ? value : JSON.stringify(value));

export const outcome = async (verifier: TokenVerifier, token: string | undefined) => {
  const answer = await verifier.verify(token === undefined ? undefined : `Bearer ${token}`);
  return 'refusal' in answer ? answer.refusal.code : 'accepted';
};
