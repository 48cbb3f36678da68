/** Asks DNS whether a domain belongs to a brand, and links or unlinks it (contract: POST verify-dns). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TxtResolver } from '../../dns/txt.ts';
import { brandsProvenFor, setProvenDomain } from '../../ledger/brands/brand-domains.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { parseVerificationRecord, verificationName } from '../../rules/brands/dns-verification.ts';

interface VerifyDnsDeps {
  database: Database;
  dns: TxtResolver;
  serviceName: string;
}

export interface DnsVerification {
  domain: string;
  dnsConfigured: boolean;
  brandId: BrandId | undefined;
  /** The name whose TXT records were read. */
  name: string;
}

/**
 * The token of a domain's record. It is derived from the domain, so that a record copied to another
 * domain proves nothing there: DNS is public.
 */
export const domainToken = (verificationSecret: string, domain: string) =>
  createHmac('sha256', verificationSecret).update(domain).digest('base64url').slice(0, 32);

/** `domain` is canonical. Rejects when DNS gives no answer; then nothing is linked or unlinked. */
export async function verifyDns(deps: VerifyDnsDeps, domain: string): Promise<DnsVerification> {
  const { database, dns, serviceName } = deps;
  const name = verificationName(serviceName, domain);
  const proven = new Set<BrandId>();
  for (const record of await dns.txtRecords(name)) {
    const claim = parseVerificationRecord(record);
    const brand = claim && (await findBrand(database.db, claim.brandId));
    if (brand && sameText(claim.token, domainToken(brand.verificationSecret, domain)))
      proven.add(brand.brandId);
  }
  for (const brandId of await brandsProvenFor(database.db, domain)) {
    if (!proven.has(brandId)) await setProvenDomain(database.db, { brandId, domain, proven: false });
  }
  for (const brandId of proven) await setProvenDomain(database.db, { brandId, domain, proven: true });
  const [brandId] = proven;
  return { domain, dnsConfigured: brandId !== undefined, brandId, name };
}

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
