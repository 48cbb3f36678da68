import { describe, expect, test } from 'vitest';
import type { Brand } from '../../src/rules/brands/brand.ts';
import { bypassOf, type EventSubmission } from '../../src/rules/events/submission.ts';

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
