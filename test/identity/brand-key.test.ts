import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { digestSecret, newKeyText, parseKeyText, secretMatches } from '../../src/identity/brand-key.ts';

test('a new key is read back, matches its own digest and no other', () => {
  const key = newKeyText('live', randomBytes);
  const other = newKeyText('live', randomBytes);
  expect(parseKeyText(key.text)).toEqual({ keyId: key.keyId, secret: key.secret });
  expect(secretMatches(key.secret, digestSecret(key.secret))).toBe(true);
  expect(secretMatches(other.secret, digestSecret(key.secret))).toBe(false);
  expect(key.keyId).not.toBe(other.keyId);
});

test.each([
  '',
  'rk_',
  'rk_live_id',
  'rk_live_id_short',
  'sk_live_id_0123456789012345678901234',
  'rk_LIVE_id_0123456789012345678901234',
  'rk_live_id_01234567890123456789-1234',
])('no key: %j', (text) => {
  expect(parseKeyText(text)).toBeUndefined();
});

test('every letter of the alphabet is as likely as any other', () => {
  const counts = new Map<string, number>();
  for (let made = 0; made < 500; made++) {
    for (const letter of newKeyText('t', randomBytes).secret)
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const expected = (500 * 40) / 56;
  expect(counts.size).toBe(56);
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.4);
});
