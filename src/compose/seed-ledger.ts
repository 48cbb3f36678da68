/** Writes a fixture into the ledger. Again and again: what brands earned, promised and paid is never touched. */

import { digestSecret, parseKeyText } from '../identity/brand-key.ts';
import { brandsOfDomains } from '../ledger/brands/brand-configuration.ts';
import { saveBrandKey } from '../ledger/brands/brand-keys.ts';
import { listBrands, saveBrand, saveEventRule } from '../ledger/brands/brands.ts';
import type { Database, Queries } from '../ledger/database/database.ts';
import { ensureWallets } from '../ledger/wallets/wallets.ts';
import type { Random } from '../lib/ids.ts';
import type { Brand } from '../rules/brands/brand.ts';
import type { Fixture } from './fixture.ts';
import { PreconditionError } from './precondition.ts';

/** Users' wallets are given in the order of the fixture, so that a fresh stack always gives the same addresses. */
export async function seedLedger(
  deps: { database: Database; random: Random; addressAt: (index: number) => `0x${string}` },
  seed: { fixture: Fixture; nowMs: number },
): Promise<{ addresses: Map<string, `0x${string}`> }> {
  const { fixture, nowMs } = seed;
  return deps.database.atomically(async (tx) => {
    const known = new Set((await listBrands(tx)).map(({ brandId }) => brandId));
    for (const { brand, rules, apiKey } of fixture.brands) {
      // A brand that is there already keeps what was changed since: the fixture is where it began.
      if (known.has(brand.brandId)) continue;
      await refuseTakenDomains(tx, brand);
      const verificationSecret = Buffer.from(deps.random.bytes(32)).toString('base64url');
      await saveBrand(tx, { ...brand, verificationSecret, createdAt: nowMs });
      for (const [position, rule] of rules.entries()) await saveEventRule(tx, { ...rule, position });
      const key = apiKey === undefined ? undefined : parseKeyText(apiKey);
      if (key) {
        const digest = digestSecret(key.secret);
        await saveBrandKey(tx, {
          keyId: key.keyId,
          brandId: brand.brandId,
          digest,
          createdAt: nowMs,
          expiresAt: null,
        });
      }
    }
    const addresses = new Map<string, `0x${string}`>();
    for (const { email } of fixture.users) {
      const wallets = await ensureWallets(tx, { userKeys: [email], addressAt: deps.addressAt, nowMs });
      const wallet = wallets.get(email);
      if (wallet) addresses.set(email, wallet.address);
    }
    return { addresses };
  });
}

/** A ledger that is kept may hold a brand with the same domain, created since or by another fixture. */
async function refuseTakenDomains(tx: Queries, { brandId, profile }: Brand): Promise<void> {
  const [taken] = (await brandsOfDomains(tx, profile.domains)).filter(([, owner]) => owner !== brandId);
  if (!taken) return;
  throw new PreconditionError({
    code: 'E_FIXTURE',
    message: `The fixture gives ${taken[0]} to brand ${brandId}; in this ledger it belongs to brand ${taken[1]}.`,
    fix: 'Take it from one of them, or start with --ephemeral or another folder with --persist-to.',
  });
}
