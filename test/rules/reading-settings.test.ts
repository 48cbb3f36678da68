/** How a value of each kind may be written, and what is said of every other one. */
import { describe, expect, test } from 'vitest';
import {
  applyBrandSettings,
  brandWith,
  newBrand,
  settingsOfBrand,
} from '../../src/rules/brands/brand-settings.ts';
import {
  defaultsOf,
  expectationOf,
  givenTwice,
  readSettings,
  readSingle,
  type Settings,
} from '../../src/rules/brands/settings.ts';
import {
  aliasesOf,
  brandSpec,
  type Kind,
  ruleSpec,
  type Spec,
  settingNames,
  writingOf,
} from '../../src/rules/brands/spec.ts';

const brandId = `0x${'ab'.repeat(20)}`;

describe.each<{ kind: Kind; good: [given: unknown, kept: unknown][]; bad: unknown[]; expected: string }>([
  {
    kind: { kind: 'switch' },
    good: [
      ...[true, 'on', 'ON', 'true', 'yes', ' Yes '].map((given): [unknown, unknown] => [given, true]),
      ...[false, 'off', 'Off', 'false', 'no', ' NO '].map((given): [unknown, unknown] => [given, false]),
    ],
    bad: [
      '',
      'on!',
      'soon',
      'truer',
      'untrue',
      'offer',
      'noon',
      'know',
      'piano',
      1,
      0,
      null,
      undefined,
      ['on'],
    ],
    expected: 'must be on or off',
  },
  {
    kind: { kind: 'text', most: 5 },
    good: [
      ['a', 'a'],
      [' abcde ', 'abcde'],
      ['a b', 'a b'],
      ['é~\u0080', 'é~\u0080'],
    ],
    bad: ['', '  ', 'abcdef', 'a\u0000', 'a\u001fb', 'a\u007f', 5, null, ['a']],
    expected: 'must be a text of 1 to 5 characters',
  },
  {
    kind: { kind: 'text', most: 2048 },
    good: [['x'.repeat(2048), 'x'.repeat(2048)]],
    bad: [5, null, ['a'], 'x'.repeat(2049)],
    expected: 'must be a text of 1 to 2048 characters',
  },
  {
    kind: { kind: 'eventType' },
    good: [
      ['aZ_09', 'aZ_09'],
      ['e'.repeat(50), 'e'.repeat(50)],
    ],
    bad: ['', 'e'.repeat(51), 'a-b', ' a', 'a ', 5],
    expected: 'must be an event type: 1 to 50 letters, digits and underscores',
  },
  {
    kind: { kind: 'address' },
    good: [[brandId.toUpperCase().replace('0X', '0x'), brandId]],
    bad: ['0x12', brandId.slice(2), 12, null],
    expected: 'must be an address: 0x and 40 hexadecimal digits',
  },
  {
    kind: { kind: 'domain' },
    good: [
      [' Shop.Example ', 'shop.example'],
      ['https://shop.example/x', 'shop.example'],
    ],
    bad: ['co.uk', '', 5],
    expected: 'must be a domain of its own, such as shop.example (no public suffix)',
  },
  {
    kind: { kind: 'choice', of: ['a', 'b', 'c'] },
    good: [['b', 'b']],
    bad: ['d', 'B', '', 'a,b', null],
    expected: 'must be a, b or c',
  },
  {
    kind: { kind: 'choice', of: ['only'] },
    good: [['only', 'only']],
    bad: ['other'],
    expected: 'must be only',
  },
  {
    kind: { kind: 'number' },
    good: [
      [0.5, 0.5],
      [' 2.25 ', 2.25],
      ['1234567.123456789', 1_234_567.123456789],
      ['123456789012345', 123_456_789_012_345],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ],
    bad: [
      0,
      '0',
      -1,
      '-1',
      '1e3',
      '.5',
      '1.',
      '1.1234567890',
      '1'.repeat(16),
      2 ** 53,
      '1x',
      'x1',
      Number.NaN,
      true,
    ],
    expected: 'must be a number above 0',
  },
  {
    kind: { kind: 'whole', least: 2, of: 'RWT' },
    good: [
      [2, 2],
      ['17', 17],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ],
    bad: [1, 2.5, '2.5', -2, 2 ** 53, 'two', null],
    expected: 'must be a whole number of RWT, 2 or more',
  },
  {
    kind: { kind: 'limit' },
    good: [
      [1, 1],
      ['5', 5],
      ['unlimited', -1],
      [-1, -1],
      ['-1', -1],
      [999_999, -1],
      [999_998, 999_998],
    ],
    bad: [0, -2, 1.5, 'none', '', null],
    expected: 'must be a whole number, 1 or more, or unlimited',
  },
  {
    kind: { kind: 'duration' },
    good: [
      [0, 0],
      ['0', 0],
      ['90s', 90_000],
    ],
    bad: [1, '1', 'soon', '', null],
    expected: 'must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0',
  },
])('a $kind.kind', ({ kind, good, bad, expected }) => {
  const read = (given: unknown) => readSingle(kind as Parameters<typeof readSingle>[0], given);

  test('is taken as people and programs write it', () => {
    for (const [given, kept] of good) expect([given, read(given)]).toEqual([given, { value: kept }]);
  });

  test('is refused in any other writing, with what it must be', () => {
    for (const given of bad) expect([given, read(given)]).toEqual([given, { expected }]);
    expect(expectationOf(kind)).toBe(expected);
  });
});

const spec = {
  id: { kind: 'address', required: true, fixed: true, help: 'which' },
  shops: { kind: 'list', of: { kind: 'text', most: 3 }, clearable: true, help: 'where' },
  places: { kind: 'list', of: { kind: 'text', most: 3 }, help: 'where it must be' },
  names: {
    kind: 'map',
    of: { kind: 'whole', least: 1, of: 'RWT' },
    key: { pattern: /^[a-z]+$/, placeholder: 'name', is: 'a name in small letters' },
    expected: 'must be a map from names to numbers',
    example: ['a', '1'],
    help: 'who',
  },
  most: { kind: 'number', clearable: true, alias: 'at_most', help: 'how much' },
  least: { kind: 'number', default: '2', inProduction: 3, help: 'how little' },
} as const satisfies Spec;
type Before = Parameters<typeof readSettings<typeof spec>>[1];
const read = (given: Settings, before: Before = {}, asNew = false) =>
  readSettings({ spec, of: 'shop', asNew }, before, given);
const kept = (given: Settings, before?: Before) => {
  const { values, problems } = read(given, before);
  expect(problems).toEqual([]);
  return values;
};
const problem = (given: Settings, before?: Before) => {
  const { problems } = read(given, before);
  expect(problems).toHaveLength(1);
  return `${problems[0]?.setting} ${problems[0]?.message}`;
};

describe('a list', () => {
  test('is a list or a text with commas, each entry once', () => {
    expect(kept({ shops: ['a', ' b ', 'a'] })).toEqual({ shops: ['a', 'b'] });
    expect(kept({ shops: 'a, b,a' })).toEqual({ shops: ['a', 'b'] });
  });
  test('is emptied where its row says so', () => {
    for (const none of [[], '', null, 'none'])
      expect(kept({ shops: none }, { shops: ['a'] })).toStrictEqual({});
    expect(problem({ places: [] })).toBe('places must be a list with at least one entry, not []');
    expect(problem({ places: 'none' })).toBe('places must be a text of 1 to 3 characters, not "none"');
  });
  test('names the entry that is wrong', () => {
    expect(problem({ shops: ['a', 'long'] })).toBe('shops must be a text of 1 to 3 characters, not "long"');
    expect(problem({ shops: 5 })).toBe('shops must be a list with at least one entry, not 5');
  });
});

describe('a map', () => {
  const before = { names: { a: 1, b: 2 } };
  test('replaces the earlier one, or one entry of it', () => {
    expect(kept({ names: { c: '3' } }, before)).toEqual({ names: { c: 3 } });
    expect(kept({ names: {} }, before)).toEqual({ names: {} });
    expect(kept({ 'names.c': '3' }, before)).toEqual({ names: { a: 1, b: 2, c: 3 } });
    expect(kept({ 'names.a': 7 })).toEqual({ names: { a: 7 } });
    for (const none of ['', null]) expect(kept({ 'names.a': none }, before)).toEqual({ names: { b: 2 } });
  });
  test.each<[Settings, string]>([
    [{ names: 'a' }, 'names must be a map, or set one entry as names.<name>, not "a"'],
    [{ names: null }, 'names must be a map, or set one entry as names.<name>, not null'],
    [{ names: ['a'] }, 'names must be a map, or set one entry as names.<name>, not ["a"]'],
    [{ names: { A: 1 } }, 'names must have a name in small letters for each name, not {"A":1}'],
    [{ names: { a: 0 } }, 'names must be a whole number of RWT, 1 or more, not {"a":0}'],
    [{ 'names.A': 1 }, 'names.A must name a name in small letters after the dot, not 1'],
    [{ 'names.a.b': 1 }, 'names.a.b must name a name in small letters after the dot, not 1'],
    [{ 'names.a': 0 }, 'names.a must be a whole number of RWT, 1 or more, not 0'],
    [
      { 'most.a': 1 },
      'most.a is not a setting of a shop; the settings are shops, places, names.<name>, most, least',
    ],
  ])('%j is refused', (given, text) => {
    expect(problem(given, before)).toBe(text);
    expect(read(given, before).values).toEqual(before);
  });
});

describe('a setting', () => {
  test('may be given by its other name, not by both', () => {
    expect(kept({ at_most: 5 })).toEqual({ most: 5 });
    expect(problem({ at_most: 5, most: 5 })).toBe(
      'at_most is another name for most, which is given too; leave one of them out',
    );
    expect(givenTwice(spec, { most: 5 })).toEqual([]);
    expect(givenTwice(spec, Object.create({ most: 5, at_most: 5 }))).toEqual([]);
  });

  test('that is not there is refused with those that are', () => {
    for (const name of ['colour', 'toString', 'constructor', ''])
      expect(problem({ [name]: 1 })).toMatch(/is not a setting of a shop; the settings are shops, /);
  });

  test('that is fixed is set with a new one only', () => {
    expect(problem({ id: brandId })).toMatch(/^id is not a setting of a shop; /);
    expect(read({ id: brandId }, {}, true)).toEqual({ values: { id: brandId }, problems: [] });
  });

  test('that may be removed says so, and a long value is shown cut', () => {
    expect(problem({ most: 'x'.repeat(100) })).toBe(
      `most must be a number above 0, or none, not "${'x'.repeat(59)}`,
    );
    expect(problem({ most: undefined })).toBe('most must be a number above 0, or none, not nothing');
    for (const none of ['', null, 'none']) expect(kept({ most: none }, { most: 5 })).toEqual({});
    expect(problem({ least: 'none' })).toBe('least must be a number above 0, not "none"');
    expect(problem({ most: [] })).toBe('most must be a number above 0, or none, not []');
  });

  test('keeps what it was when its new value is refused', () => {
    expect(read({ most: 0, least: 9 }, { most: 5 }).values).toEqual({ most: 5, least: 9 });
  });
});

describe('a table', () => {
  test('gives a new one its defaults, in production those of production', () => {
    expect(defaultsOf(spec)).toEqual({ least: 2 });
    expect(defaultsOf(spec, 'emulator')).toEqual({ least: 2 });
    expect(defaultsOf(spec, 'production')).toEqual({ least: 3 });
    expect(defaultsOf({ names: { ...spec.names, default: { a: 1 } } } as Spec)).toEqual({ names: { a: 1 } });
    expect(defaultsOf({ shops: { ...spec.shops, default: 'a,b' } } as Spec)).toEqual({ shops: ['a', 'b'] });
    expect(defaultsOf({ least: { ...spec.least, default: 'x' } } as Spec)).toEqual({});
  });

  test('names its settings, their other names and how they are written', () => {
    expect(settingNames(spec)).toEqual(['shops', 'places', 'names.<name>', 'most', 'least']);
    expect(aliasesOf(spec)).toEqual([['at_most', 'most']]);
    expect(writingOf({ kind: 'limit' })).toBe(', or unlimited');
    expect(writingOf({ kind: 'duration' })).toBe(', such as 24h, or 0');
    expect(writingOf({ kind: 'number' })).toBe('');
    expect(expectationOf(spec.names)).toBe('must be a map from names to numbers');
    expect(expectationOf(spec.shops)).toBe('must be a list with at least one entry');
  });
});

describe('a new brand', () => {
  const named = { brandId, name: 'Shop', domains: 'shop.example' };

  test.each(['brandId', 'name', 'domains'])('needs its %s', (missing) => {
    const { [missing]: _, ...others } = named as Settings;
    const expected =
      missing === 'brandId'
        ? ['brandId must be an address: 0x and 40 hexadecimal digits, not nothing']
        : [`${missing} is missing`];
    const made = newBrand(others, 'emulator');
    expect(
      'problems' in made && made.problems.map(({ setting, message }) => `${setting} ${message}`),
    ).toEqual(expected);
  });

  test('trusts no browser in production, and in the emulator those that were trusted before', () => {
    const settingsFor = (where: 'emulator' | 'production') => {
      const made = newBrand(named, where);
      return 'brand' in made && settingsOfBrand(made.brand);
    };
    const emulator = {
      brandId,
      name: 'Shop',
      automation: true,
      domains: ['shop.example'],
      platforms: {},
      clientEvents: 'open',
      directAddresses: 'allow',
      domainless: 'credential',
      clientBypass: 'credential',
      clientAmounts: 'allow',
      mintTo: 'wallet',
      pregenerate: 'open',
      engagementWrites: 'open',
      redemptions: 'key',
      leaderboardUsers: 'shown',
      timeZone: 'UTC',
      streakPays: 'off',
      streakTypes: ['daily'],
      streakBase: 10,
      streakGrace: 36 * 3_600_000,
      streakMultipliers: { 3: 1.1, 7: 1.25, 14: 1.5, 30: 2 },
      streakMilestones: { 7: 100, 30: 500, 100: 2000, 365: 10_000 },
      achievements: {},
    };
    expect(settingsFor('emulator')).toEqual(emulator);
    expect(newBrand({ ...named, colour: 1 }, 'emulator')).toEqual({
      problems: [{ setting: 'colour', message: expect.stringMatching(/^is not a setting of a brand; /) }],
    });
    expect(settingsFor('production')).toEqual({
      ...emulator,
      directAddresses: 'credential',
      clientAmounts: 'credential',
      engagementWrites: 'credential',
      leaderboardUsers: 'masked',
      spendPerHour: 1000,
    });
  });

  test('is changed by its settings, or everything wrong with them is told', () => {
    const made = newBrand({ ...named, spendPerDay: 5 }, 'emulator');
    if (!('brand' in made)) throw new Error('no brand');
    expect(applyBrandSettings(made.brand, { automation: 'off', spendPerDay: 'none' })).toEqual({
      brand: brandWith({ ...settingsOfBrand(made.brand), automation: false, spendPerDay: undefined }),
    });
    expect(made.brand.profile).toHaveProperty('spendPerDay', 5);
    expect(applyBrandSettings(made.brand, { automation: 'x', brandId, mintTo: 'y' })).toEqual({
      problems: [
        { setting: 'automation', message: 'must be on or off, not "x"' },
        {
          setting: 'brandId',
          message: expect.stringMatching(/^is not a setting of a brand; the settings are name, /),
        },
        { setting: 'mintTo', message: 'must be wallet or escrow, not "y"' },
      ],
    });
  });
});

test('the settings are these, in this order', () => {
  expect(settingNames(brandSpec).join(' ')).toBe(
    'name automation domains platforms.<platform> clientEvents directAddresses domainless clientBypass clientAmounts mintTo pregenerate engagementWrites redemptions leaderboardUsers gasBudget spendPerHour spendPerDay eventNameMapping.<name> domainUsers timeZone streakPays streakCheckInEvents streakTypes streakBase streakGrace streakMultipliers.<days> streakMilestones.<days> achievements.<type>',
  );
  expect(settingNames(ruleSpec).join(' ')).toBe(
    'reward maxClaims maxTotalClaims cooldown active oncePer channels perUsd maxReward multiplier urlPatterns successSelectors method',
  );
  expect(aliasesOf(ruleSpec)).toEqual([
    ['max_claims_per_user', 'maxClaims'],
    ['cooldown_period', 'cooldown'],
  ]);
});
