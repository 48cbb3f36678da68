/** Keys of brands: handed out, replaced, and told from the requests that they come with. */
import { digestSecret, newKeyText, parseKeyText, secretMatches } from '../../identity/brand-key.ts';
import { listBrandKeys } from '../../ledger/brands/brand-configuration.ts';
import { expireBrandKeys, findBrandKey, saveBrandKey } from '../../ledger/brands/brand-keys.ts';
import type { Database, Queries } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type ManageBrandsDeps, type Outcome, withBrand } from './named-brand.ts';

// Gives a brand a new key.

/** A new key's text, which is shown only once, and when the brand's other keys expire, if it has any. */
export interface NewKey {
  keyId: string;
  apiKey: string;
  othersExpireAtMs: number | null;
}

/** Adds a key; the earlier keys work for `overlapMs` more, so that the brand's servers can change over. */
export async function rotateKey(
  deps: ManageBrandsDeps,
  name: string,
  { overlapMs }: { overlapMs: number },
): Promise<Outcome<NewKey>> {
  const nowMs = deps.clock.now();
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId }) => {
      const atMs = nowMs + overlapMs;
      await expireBrandKeys(tx, { brandId, atMs });
      const living = (await listBrandKeys(tx, brandId)).filter(({ expiresAt }) => (expiresAt ?? 0) > nowMs);
      const key = await addKey(deps, tx, { brandId, nowMs });
      return { ...key, othersExpireAtMs: living.length > 0 ? atMs : null };
    }),
  );
}

/** Adds a key; its text is told here and never again. */
export async function addKey(
  { random, keyEnvironment }: ManageBrandsDeps,
  tx: Queries,
  { brandId, nowMs }: { brandId: BrandId; nowMs: number },
): Promise<{ keyId: string; apiKey: string }> {
  const { keyId, secret, text } = newKeyText(keyEnvironment, random.bytes);
  await saveBrandKey(tx, { keyId, brandId, digest: digestSecret(secret), createdAt: nowMs, expiresAt: null });
  return { keyId, apiKey: text };
}

// Which brand a request's key belongs to (contract: Authentication).

/** `authorization` is the header as sent. Undefined without a key, and for one that is unknown, wrong or expired. */
export async function verifyBrandKey(
  deps: { database: Database; clock: Clock },
  authorization: string | undefined,
): Promise<BrandId | undefined> {
  const text = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  const key = text === undefined ? undefined : parseKeyText(text);
  if (!key) return undefined;
  const known = await findBrandKey(deps.database.db, { keyId: key.keyId, nowMs: deps.clock.now() });
  return known && secretMatches(key.secret, known.digest) ? known.brandId : undefined;
}
