/** Which brand a request's key belongs to (contract: Authentication). */
import { parseKeyText, secretMatches } from '../../identity/brand-key.ts';
import { findBrandKey } from '../../ledger/brands/brand-keys.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

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
