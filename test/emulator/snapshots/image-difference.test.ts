/** A store's image, made again from a later one and what differs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differenceFrom, withDifference } from '../../../src/emulator/snapshots/undo-points.ts';

const image = fc
  .array(fc.constantFrom(0, 1, 2), { maxLength: 6 })
  .chain((fills) => fc.tuple(fc.constant(fills), fc.constantFrom(0, 1, 2_048)))
  .map(([fills, more]) =>
    Buffer.concat([...fills.map((fill) => Buffer.alloc(4_096, fill)), Buffer.alloc(more)]),
  );

test('is the image that it was, longer or shorter than the later one', () => {
  fc.assert(
    fc.property(image, image, (older, newer) => {
      expect(withDifference(newer, differenceFrom(newer, older)).equals(older)).toBe(true);
    }),
  );
});

test('keeps only pages that are not the same', () => {
  const older = Buffer.alloc(40 * 4_096, 7);
  const newer = Buffer.concat([older, Buffer.alloc(4_096)]);
  newer.writeUInt8(8, 5 * 4_096 + 9);
  expect([...differenceFrom(newer, older).pages.keys()]).toEqual([5 * 4_096]);
});
