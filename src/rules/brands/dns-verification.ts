/** The TXT record by which a domain says that it belongs to a brand (contract: POST verify-dns). */

import { addressKey } from '../user-key.ts';
import type { BrandId } from './brand.ts';

/** The DNS name whose TXT records are read: `_<service>.<domain>`. */
export const verificationName = (serviceName: string, domain: string) => `_${serviceName}.${domain}`;

/** What the record says; the token opens nothing but the link between this domain and the brand. */
export const verificationRecord = (claim: { brandId: BrandId; token: string }) =>
  `brand_id=${claim.brandId};api_key=${claim.token}`;

/** Undefined when the record is something else. */
export function parseVerificationRecord(record: string): { brandId: BrandId; token: string } | undefined {
  const fields = new Map(
    record.split(';').map((field) => {
      const at = field.indexOf('=');
      return [field.slice(0, at).trim().toLowerCase(), field.slice(at + 1).trim()] as const;
    }),
  );
  const brandId = addressKey(fields.get('brand_id') ?? '');
  const token = fields.get('api_key');
  return brandId && token ? { brandId, token } : undefined;
}
