/** The tables of settings, and what is made of a row: here of tables with a setting that nobody has. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fileShape, shownSettings, shownShape } from '../../src/contract/settings-schema.ts';
import { defaultsOf, readSettings } from '../../src/rules/brands/settings.ts';
import { brandSpec, rowsOf, ruleSpec, type Spec } from '../../src/rules/brands/spec.ts';

const invented = {
  quietHours: { kind: 'duration', default: '8h', help: 'how long nothing is sent' },
  tier: { kind: 'choice', of: ['gold', 'silver'], clearable: true, help: 'which tier it counts for' },
  floor: { kind: 'number', help: 'the least that an order must come to' },
  stores: { kind: 'list', of: { kind: 'text', most: 5 }, clearable: true, help: 'where it counts' },
} as const satisfies Spec;

describe('a row is all that a setting needs', () => {
  const table = { spec: invented, of: 'test' };
  const file = z.strictObject(fileShape(invented));
  const shown = z.strictObject(shownShape(invented));

  test('what is assumed is the same in a file and everywhere else', () => {
    expect(file.parse({})).toEqual({ quietHours: 28_800_000 });
    expect(defaultsOf(invented)).toEqual({ quietHours: 28_800_000 });
    expect(shownSettings(invented, {})).toEqual({
      quietHoursMs: 28_800_000,
      tier: 'none',
      floor: null,
      stores: [],
    });
  });

  test('a file and the control API read the same of it, and show it as they say', () => {
    const given = { quietHours: '90s', tier: 'gold', floor: 2.5, stores: ['north'] };
    const { values, problems } = readSettings(table, {}, given);
    expect(problems).toEqual([]);
    expect(values).toEqual({ ...given, quietHours: 90_000 });
    expect(file.parse(given)).toEqual(values);
    const { quietHours, ...others } = values;
    expect(shown.parse(shownSettings(invented, values))).toEqual({ quietHoursMs: quietHours, ...others });
    expect(shown.parse(shownSettings(invented, {}))).toEqual(shownSettings(invented, {}));
  });

  test('it can be taken away where the row says so', () => {
    const before = { tier: 'gold', stores: ['north'], floor: 1 } as const;
    const kept = { ...before, stores: [...before.stores] };
    expect(readSettings(table, kept, { tier: 'none', stores: [] })).toEqual({
      values: { floor: 1 },
      problems: [],
    });
    expect(readSettings(table, kept, { floor: 'none', tier: 'bronze', colour: 1 }).problems).toEqual([
      { setting: 'floor', message: 'must be a number above 0, not "none"' },
      { setting: 'tier', message: 'must be gold or silver, or none, not "bronze"' },
      {
        setting: 'colour',
        message: 'is not a setting of a test; the settings are quietHours, tier, floor, stores',
      },
    ]);
  });
});

test.each([
  { of: 'brand', spec: brandSpec as Spec },
  { of: 'rule', spec: ruleSpec as Spec },
])('what a $of has by default is what it may be set to', ({ of, spec }) => {
  const written = rowsOf(spec).flatMap(([name, row]) => ('default' in row ? [[name, row.default]] : []));
  const { values, problems } = readSettings({ spec, of }, {}, Object.fromEntries(written));
  expect(problems).toEqual([]);
  expect(values).toEqual(defaultsOf(spec));
});
