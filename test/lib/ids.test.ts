import { expect, test } from 'vitest';
import { secureRandom, uuidV7 } from '../../src/lib/ids.ts';

test('ids sort by their time and carry version 7', () => {
  const random = secureRandom({ now: () => 1_700_000_000_000 });
  expect(random.uuid()).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const zeros = new Uint8Array(10);
  expect(uuidV7({ nowMs: 1, random: zeros }) < uuidV7({ nowMs: 2, random: zeros })).toBe(true);
  expect(new Set(Array.from({ length: 1_000 }, () => random.uuid())).size).toBe(1_000);
});
