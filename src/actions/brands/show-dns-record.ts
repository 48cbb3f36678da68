/** Tells which TXT record links a domain to a brand. */
import { verificationName, verificationRecord } from '../../rules/brands/dns-verification.ts';
import { configuredHost } from '../../rules/brands/domain.ts';
import { findNamed, invalid, type ManageBrandsDeps, notFound, type Outcome } from './named-brand.ts';
import { domainToken } from './verify-dns.ts';

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
