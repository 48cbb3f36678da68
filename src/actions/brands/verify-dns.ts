/**
 * Asks DNS whether a domain belongs to a brand, and links or unlinks it (contract: POST verify-dns); and shows the
 * record that proves it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TxtResolver } from '../../dns/txt.ts';
import {
  brandsProvenFor,
  linkProvenDomain,
  missProvenDomain,
  nestedDomain,
} from '../../ledger/brands/brand-domains.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import {
  configuredHost,
  parseVerificationRecord,
  verificationName,
  verificationRecord,
} from '../../rules/brands/domain.ts';
import { findNamed, invalid, type ManageBrandsDeps, notFound, type Outcome } from './named-brand.ts';

interface VerifyDnsDeps {
  database: Database;
  dns: TxtResolver;
  serviceName: string;
  clock: Pick<Clock, 'now'>;
  settings: {
    /** Anybody may ask at any moment: misses within this time count once. */
    lookEveryMs: number;
    /** With the last of them the domain is unlinked. */
    missesMax: number;
  };
}

export interface DnsVerification {
  domain: string;
  dnsConfigured: boolean;
  brandId: BrandId | undefined;
  /** A domain of another brand above or below this one, for which a valid record links nothing. */
  nested: string | undefined;
  /** The name whose TXT records were read. */
  name: string;
}

/**
 * The token of a domain's record. It is derived from the domain, so that a record copied to another
 * domain proves nothing there: DNS is public.
 */
export const domainToken = (verificationSecret: string, domain: string) =>
  createHmac('sha256', verificationSecret).update(domain).digest('base64url').slice(0, 32);

/**
 * Links a canonical domain, or counts that its record is missing: a domain is unlinked after several misses over a
 * day. Rejects when DNS gives no answer; then nothing is linked or counted.
 */
export async function verifyDns(deps: VerifyDnsDeps, domain: string): Promise<DnsVerification> {
  const { database, dns, serviceName, clock, settings } = deps;
  const name = verificationName(serviceName, domain);
  const proven = new Set<BrandId>();
  for (const record of await dns.txtRecords(name)) {
    const claim = parseVerificationRecord(record);
    const brand = claim && (await findBrand(database.db, claim.brandId));
    if (brand && sameText(claim.token, domainToken(brand.verificationSecret, domain)))
      proven.add(brand.brandId);
  }
  for (const brandId of await brandsProvenFor(database.db, domain)) {
    if (proven.has(brandId)) continue;
    const misses = { nowMs: clock.now(), everyMs: settings.lookEveryMs, missesMax: settings.missesMax };
    await missProvenDomain(database.db, { brandId, domain }, misses);
  }
  let nested: string | undefined;
  for (const brandId of proven) {
    const other = await nestedDomain(database.db, { brandId, domain });
    if (other === undefined) await linkProvenDomain(database.db, { brandId, domain });
    else {
      nested = other;
      proven.delete(brandId);
    }
  }
  const [brandId] = proven;
  return { domain, dnsConfigured: brandId !== undefined, brandId, nested, name };
}

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

// Tells which TXT record links a domain to a brand.

/** The TXT record by which a domain says that it is the brand's. Contract: POST verify-dns. */
export async function dnsRecord(
  { database, serviceName }: Pick<ManageBrandsDeps, 'database' | 'serviceName'>,
  name: string,
  domain: string,
): Promise<Outcome<{ name: string; value: string }>> {
  const host = configuredHost(domain);
  if (!host)
    return invalid([{ setting: 'domain', message: 'must be a domain of its own (no public suffix)' }]);
  const brand = await findNamed(database.db, name);
  if (!brand) return notFound(name);
  const { brandId, verificationSecret } = brand;
  return {
    name: verificationName(serviceName, host),
    value: verificationRecord({ brandId, token: domainToken(verificationSecret, host) }),
  };
}
