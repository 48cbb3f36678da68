import { expect, test } from 'vitest';
import { allPlaces, placedName, secureRandom, uuidV7 } from '../../src/lib/ids.ts';

test('ids sort by their time and carry version 7', () => {
  const random = secureRandom({ now: () => 1_700_000_000_000 });
  expect(random.uuid()).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const digits = '0'.repeat(19);
  expect(uuidV7({ nowMs: 1, digits }) < uuidV7({ nowMs: 2, digits })).toBe(true);
  expect(new Set(Array.from({ length: 1_000 }, () => random.uuid())).size).toBe(1_000);
});

test('digits drawn ahead are given out once, in any number', () => {
  const random = secureRandom({ now: () => 0 });
  const names = Array.from({ length: 2_000 }, () => random.digits(20));
  expect(names.every((name) => /^[0-9a-f]{20}$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(names.length);
  expect(random.digits(20_000)).toMatch(/^[0-9a-f]{20000}$/);
});

test('names that are made together begin alike, others do not, and each begins with a known place', () => {
  const random = secureRandom({ now: () => 0 });
  const at = (nowMs: number) => placedName(random, { nowMs, count: 20 });
  expect(at(1_750_000_000_000)).toMatch(/^[0-9a-f]{20}$/);
  expect(at(1_750_000_000_000).slice(0, 3)).toBe(at(1_750_000_000_249).slice(0, 3));
  expect(at(1_750_000_000_000)).not.toBe(at(1_750_000_000_000));
  const quarters = Array.from({ length: 4_096 }, (_, quarter) => at(quarter * 250).slice(0, 3));
  expect(quarters).toEqual([...new Set(quarters)]);
  expect(allPlaces()).toEqual([...quarters].sort());
});
