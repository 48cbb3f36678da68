import { describe, expect, test } from 'vitest';
import {
  parseVerificationRecord,
  verificationName,
  verificationRecord,
} from '../../src/rules/brands/domain.ts';

describe('contract: verify-dns, TXT record', () => {
  const brandId = '0x00000000000000000000000000000000000000aa';
  test('is asked at the name of the service', () => {
    expect(verificationName('rewards', 'example.com')).toBe('_rewards.example.com');
    expect(parseVerificationRecord(verificationRecord({ brandId, token: 'tok' }))).toEqual({
      brandId,
      token: 'tok',
    });
  });

  test.each([
    [`brand_id=${brandId};api_key=tok`, 'tok'],
    [` brand_id = ${brandId} ; api_key = tok `, 'tok'],
    [`BRAND_ID=${brandId.toUpperCase()};API_KEY=tok`, 'tok'],
    [`api_key=tok;brand_id=${brandId}`, 'tok'],
    [`brand_id=${brandId};api_key=to=k==`, 'to=k=='],
    [`brand_id=${brandId};other=1;api_key=tok;`, 'tok'],
    [`brand_id=${brandId}`, undefined],
    [`brand_id=${brandId};api_key=`, undefined],
    [`brand_id=${brandId};api_keytok`, undefined],
    ['api_key=tok', undefined],
    ['brand_id=0xabc;api_key=tok', undefined],
    [`brand_id${brandId};api_key=tok`, undefined],
    ['v=spf1 -all', undefined],
    ['', undefined],
    [';;;===', undefined],
  ])('%j gives the token %j', (record, token) => {
    expect(parseVerificationRecord(record)?.token).toBe(token);
  });
});
