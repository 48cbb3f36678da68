/** The table of start settings by itself: what its rows promise each other. */
import { expect, test } from 'vitest';
import { namesOf } from '../../src/lib/setting.ts';
import { startRows } from '../../src/production/settings.ts';

test.each(['name', 'long', 'attribute', 'variable', 'optionVariable'] as const)(
  'no two settings have one %s',
  (which) => {
    const names = startRows.map(([, row]) => namesOf(row)[which]);
    expect(new Set(names).size).toBe(names.length);
  },
);

test('every default is a value that its setting accepts', () => {
  const refused = startRows.filter(
    ([, { kind, default: standard }]) => standard !== undefined && kind.parse(standard) === undefined,
  );
  expect(refused.map(([key]) => key)).toEqual([]);
});
