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

test('a new key is made of its random bytes, of those that are as likely as any other', () => {
  const given = [223, 224, 255, 0, 55, 56];
  let at = 0;
  const asked: number[] = [];
  const bytes = (count: number) => {
    asked.push(count);
    return Uint8Array.from({ length: count }, () => given[at++ % given.length] as number);
  };
  // 223 is the last letter of the alphabet for the fourth time; 224 and 255 are none.
  const letters = '9A9A'.repeat(30);
  expect(newKeyText('live', bytes)).toEqual({
    keyId: `live_${letters.slice(0, 12)}`,
    secret: letters.slice(12, 52),
    text: `rk_live_${letters.slice(0, 12)}_${letters.slice(12, 52)}`,
  });
  expect(new Set(asked)).toEqual(new Set([12, 40]));
});

test('a secret is kept as its SHA-256 in hexadecimal digits', () => {
  expect(digestSecret('secret')).toBe('2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b');
});

test('a digest of another length matches nothing, and throws nothing', () => {
  expect(secretMatches('secret', '')).toBe(false);
  expect(secretMatches('secret', digestSecret('secret').slice(2))).toBe(false);
});

test.each([
  [`rk_a_b_${'c'.repeat(24)}`, 'a_b'],
  [`rk_${'a'.repeat(10)}_${'Z9'.repeat(20)}_${'c'.repeat(100)}`, `${'a'.repeat(10)}_${'Z9'.repeat(20)}`],
  [`rk_${'a'.repeat(11)}_b_${'c'.repeat(24)}`, undefined],
  [`rk_a_${'b'.repeat(41)}_${'c'.repeat(24)}`, undefined],
  [`rk_a_b_${'c'.repeat(23)}`, undefined],
  [`rk_a_b_${'c'.repeat(101)}`, undefined],
  [`rk_a_b-_${'c'.repeat(24)}`, undefined],
  [` rk_a_b_${'c'.repeat(24)}`, undefined],
  [`rk_a_b_${'c'.repeat(24)} `, undefined],
])('the key %s is found by %s', (text, keyId) => {
  expect(parseKeyText(text)?.keyId).toBe(keyId);
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
