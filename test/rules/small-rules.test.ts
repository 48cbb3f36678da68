/** Channels, DNS records, and who may pass over what. */
import { describe, expect, test } from 'vitest';
import type { Brand } from '../../src/rules/brands/brand.ts';
import {
  parseVerificationRecord,
  verificationName,
  verificationRecord,
} from '../../src/rules/brands/dns-verification.ts';
import { channelAllowed } from '../../src/rules/events/channel.ts';
import { bypassOf, type EventSubmission } from '../../src/rules/events/submission.ts';

describe('contract: Channel rule', () => {
  test.each<[string | undefined, string[] | undefined, boolean]>([
    ['#support', ['#support'], true],
    ['support', ['#support'], true],
    ['#Support', ['support'], true],
    [' support ', ['#support'], true],
    ['support2', ['#support'], false],
    ['##support', ['#support'], false],
    ['', ['#support'], false],
    ['anything', [], true],
    ['anything', undefined, true],
    [undefined, ['#support'], true],
    ['1234567890', ['#support', '1234567890'], true],
  ])('channel %j with %j: %j', (channel, allowed, passes) => {
    expect(channelAllowed(channel, allowed)).toBe(passes);
  });
});

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

describe('contract: Cooldown bypass', () => {
  const brand = (clientBypass: 'allow' | 'credential') => ({ profile: { clientBypass } }) as unknown as Brand;
  const submission = (change: Partial<EventSubmission>) =>
    ({ metadata: {}, withBrandKey: false, skipCooldown: false, ...change }) as EventSubmission;
  const none = { cooldown: false, maxClaims: false };
  const both = { cooldown: true, maxClaims: true };

  test.each(['chat_manual_reward', 'voice_claim', 'gateway_event'])('%s', (source) => {
    for (const setting of ['allow', 'credential'] as const) {
      expect(bypassOf(submission({ metadata: { source } }), brand(setting))).toEqual(none);
      expect(bypassOf(submission({ metadata: { source }, withBrandKey: true }), brand(setting))).toEqual(
        both,
      );
    }
  });

  test.each([
    'Chat_Manual_Reward',
    ' voice_claim',
    'web',
    '',
    1,
    null,
    true,
    ['voice_claim'],
    { voice_claim: true },
  ])('source %j is a normal event', (source) => {
    expect(bypassOf(submission({ metadata: { source }, withBrandKey: true }), brand('allow'))).toEqual(none);
  });

  test('an inherited source is none', () => {
    const metadata = Object.create({ source: 'voice_claim' });
    expect(bypassOf(submission({ metadata, withBrandKey: true }), brand('allow'))).toEqual(none);
  });

  test.each([
    ['allow', false, true],
    ['allow', true, true],
    ['credential', false, false],
    ['credential', true, true],
  ] as const)(
    'skip_cooldown where clientBypass is %s, with key %j: %j',
    (setting, withBrandKey, cooldown) => {
      const skips = submission({ skipCooldown: true, withBrandKey });
      expect(bypassOf(skips, brand(setting))).toEqual({ cooldown, maxClaims: false });
    },
  );
});
