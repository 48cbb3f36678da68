import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FixtureError, loadFixture, parseFixture, problemText } from '../../src/emulator/fixture/fixture.ts';

const address = `0x${'ab'.repeat(20)}`;
const other = `0x${'cd'.repeat(20)}`;

/** A whole file around the lines that a case is about. */
const brandWith = (...lines: string[]) =>
  ['brands:', '  - name: B', `    brandId: ${address}`, '    domains: [b.example]', ...lines].join('\n');

function problemsOf(...texts: string[]): string[] {
  try {
    parseFixture(texts.map((text, place) => ({ name: place === 0 ? 'f.yaml' : `f${place + 1}.yaml`, text })));
  } catch (error) {
    if (error instanceof FixtureError) return error.problems.map(problemText);
    throw error;
  }
  return [];
}

describe('what is written in place of a value is refused where it stands', () => {
  test.each([
    [
      'a misspelt key',
      '    domians: [x.example]',
      '5:5 brands[0].domians: is unknown; did you mean domains?',
    ],
    [
      'a key like no other',
      '    zzz: 1\n',
      '5:5 brands[0].zzz: is unknown; the keys are brandId, name, domains, platforms, automation, clientEvents, directAddresses, domainless, clientBypass, clientAmounts, mintTo, pregenerate, engagementWrites, redemptions, leaderboardUsers, gasBudget, spendPerHour, spendPerDay, domainUsers, timeZone, streakPays, streak.pays, streakCheckInEvents, streak.checkInEvents, streakTypes, streak.types, streakBase, streak.base, streakGrace, streak.grace, streakMultipliers, streak.multipliers, streakMilestones, streak.milestones, achievements, apiKey, escrow, webhook, events, eventNameMapping, aliases, perks',
    ],
    [
      'a misspelt key of an event',
      '    events: { visit: { reward: 1, cooldwon: 1h } }',
      '5:35 brands[0].events.visit.cooldwon: is unknown; did you mean cooldown?',
    ],
    [
      'a wrong type',
      '    automation: perhaps',
      '5:17 brands[0].automation: must be true or false, not "perhaps"',
    ],
    [
      'a list for a map',
      '    events: []',
      '5:13 brands[0].events: must be a map from event types to their rules',
    ],
    [
      'a list for a map of names',
      '    eventNameMapping: [signup]',
      '5:23 brands[0].eventNameMapping: must be a map from names of events to event types',
    ],
    [
      'a name of an event that is none',
      '    eventNameMapping: { "sign up": visit }',
      '5:25 brands[0].eventNameMapping.sign up: must be a name of an event: 1 to 100 letters, digits and . : _ -',
    ],
    [
      'an event type that is none',
      '    eventNameMapping: { signup: a-b }',
      '5:33 brands[0].eventNameMapping.signup: must be an event type: 1 to 50 letters, digits and underscores, not "a-b"',
    ],
    [
      'a list for a map of aliases',
      '    aliases: [ada@mail.example]',
      "5:14 brands[0].aliases: must be a map from aliases to the users' e-mails",
    ],
    [
      'a number alone, which could be of any platform',
      '    aliases: { "42": ada@mail.example }',
      '5:16 brands[0].aliases.42: must be an e-mail, or the stand-in e-mail of a platform, such as wordpress_2@rewards.localhost',
    ],
    [
      'an alias of nobody',
      '    aliases: { wp_42@own.example: ada }',
      '5:35 brands[0].aliases.wp_42@own.example: the user must be an e-mail, or the stand-in e-mail of a platform, such as wordpress_2@rewards.localhost, not "ada"',
    ],
    [
      'an alias of itself',
      '    aliases: { ada@mail.example: Ada@mail.example }',
      '5:34 brands[0].aliases.ada@mail.example: is an alias of itself; leave it out, or name another user',
    ],
    [
      'an alias of an alias',
      '    aliases: { wp_1@own.example: ada@mail.example, ada@mail.example: eve@mail.example }',
      '5:34 brands[0].aliases.wp_1@own.example: ada@mail.example is an alias itself; name the user whose alias it is',
    ],
    [
      'one alias in two spellings',
      '    aliases: { wp_1@own.example: ada@mail.example, WP_1@own.example: eve@mail.example }',
      '5:70 brands[0].aliases.WP_1@own.example: is there twice: wp_1@own.example in another spelling',
    ],
    ['a map for a list', '    perks: {}', '5:12 brands[0].perks: must be a list of perks'],
    ['nothing for a map', 'site:', '5:6 site: must be a map, not null'],
    [
      'a site of another brand',
      `site: { brand: ${other} }`,
      `5:16 site.brand: ${other} is not a brand of these files`,
    ],
    [
      'a hook that is none',
      'site: { events: [{ hook: Page-Opened, event: visit }] }',
      '5:26 site.events[0].hook: must be 1 to 64 small letters, digits and underscores, and begin with a letter, such as booking_completed, not "Page-Opened"',
    ],
    [
      'a word that is no choice',
      '    clientBypass: sometimes',
      '5:19 brands[0].clientBypass: must be allow or credential, not "sometimes"',
    ],
    [
      'a negative amount',
      '    escrow: -1',
      '5:13 brands[0].escrow: must be a whole number of RWT, 0 or more, not -1',
    ],
    [
      'a fractional amount',
      '    escrow: 0.5',
      '5:13 brands[0].escrow: must be a whole number of RWT, 0 or more, not 0.5',
    ],
    [
      'an amount that a number cannot hold',
      '    escrow: 9007199254740993',
      '5:13 brands[0].escrow: must be a whole number of RWT, 0 or more, not 9007199254740992',
    ],
    [
      'an amount with underscores',
      '    escrow: 1_000',
      '5:13 brands[0].escrow: must be a whole number of RWT, 0 or more, not "1_000"',
    ],
    [
      'an endless amount',
      '    escrow: .inf',
      '5:13 brands[0].escrow: must be a whole number of RWT, 0 or more, not Infinity',
    ],
    [
      'a reward of nothing, which the escrow would skip',
      '    events: { visit: { reward: 0 } }',
      '5:32 brands[0].events.visit.reward: must be a whole number of RWT, 1 or more, not 0',
    ],
    [
      'a missing reward',
      '    events:\n      visit: { cooldown: 1h }',
      '6:14 brands[0].events.visit.reward: is missing: must be a whole number of RWT, 1 or more',
    ],
    [
      'a duration without a unit',
      '    events: { visit: { reward: 1, cooldown: 24 } }',
      '5:45 brands[0].events.visit.cooldown: must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0, not 24',
    ],
    [
      'a duration in words',
      '    events: { visit: { reward: 1, cooldown: one day } }',
      '5:45 brands[0].events.visit.cooldown: must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0, not "one day"',
    ],
    ...['0', '-2', '1.5', 'none'].map((limit): [string, string, string] => [
      `a limit of ${limit}`,
      `    events: { visit: { reward: 1, maxClaims: ${limit} } }`,
      `5:46 brands[0].events.visit.maxClaims: must be a whole number, 1 or more, or unlimited (also -1 or 999999), not ${limit === 'none' ? '"none"' : limit}`,
    ]),
    [
      'a cap without a rate',
      '    events: { visit: { reward: 1, maxReward: 5 } }',
      '5:46 brands[0].events.visit.maxReward: limits perUsd, which is not set',
    ],
    [
      'an event type with a hyphen',
      '    events: { sign-up: { reward: 1 } }',
      '5:15 brands[0].events.sign-up: must be an event type: 1 to 50 letters, digits and underscores',
    ],
    [
      'an event type of 51 letters',
      `    events: { ${'e'.repeat(51)}: { reward: 1 } }`,
      `5:15 brands[0].events.${'e'.repeat(51)}: must be an event type: 1 to 50 letters, digits and underscores`,
    ],
    [
      'a webhook to two places',
      `    webhook: { inbox: true, url: "https://b.example", secret: whsec_${'A'.repeat(32)} }`,
      '5:14 brands[0].webhook: must have either `inbox: true` or a url',
    ],
    [
      'a secret, which is not repeated,',
      '    webhook: { inbox: true, secret: hunter2 }',
      '5:37 brands[0].webhook.secret: must be whsec_ and the base64 of 24 to 64 bytes',
    ],
    [
      'a key of another form, which is not repeated either,',
      '    apiKey: rk_live_123',
      '5:13 brands[0].apiKey: must be rk_<environment>_<id>_<secret>, with a secret of 24 or more letters and digits',
    ],
    [
      'a time zone of nowhere',
      '    timeZone: Mars/Base',
      '5:15 brands[0].timeZone: must be a time zone such as UTC or Europe/Berlin, not "Mars/Base"',
    ],
    [
      'a milestone at no number of days',
      '    streakMilestones: { soon: 100 }',
      '5:25 brands[0].streakMilestones.soon: must be a number of days, 1 to 9999',
    ],
    [
      'a setting by both its names',
      '    streakBase: 5\n    streak.base: 6',
      '6:18 brands[0].streak.base: is another name for streakBase, which is given too; leave one of them out',
    ],
    [
      'the event type of a reward that the service grants by itself',
      '    events: { streak_checkin: { reward: 5 } }',
      '5:31 brands[0].events.streak_checkin: is the type of a reward that the service itself grants for streaks: give the event another name',
    ],
    [
      'a rule that pays for check-ins which the service pays for',
      '    streakPays: service\n    streak.checkInEvents: [visit]\n    events: { visit: { reward: 5 } }',
      "7:22 brands[0].events.visit: is one of the brand's streakCheckInEvents, and the service pays for its check-ins: this rule would pay a second time; set the brand's streakPays to event first",
    ],
  ])('%s', (_, lines, complaint) => {
    expect(problemsOf(brandWith(lines))).toEqual([`f.yaml:${complaint}`]);
  });

  test.each([
    ['co.uk', 'a public suffix'],
    ['github.io', 'a suffix under which anyone can be'],
    ['b@c.example', 'an address'],
    ['"b .example"', 'a blank'],
    ['-b.example', 'a label that begins with a hyphen'],
  ])('the domain %s: %s', (domain) => {
    const text = `brands:\n  - { name: B, brandId: ${address}, domains: [${domain}] }`;
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(
        /^f\.yaml:2:79 brands\[0\]\.domains\[0\]: must be a domain of its own, .*, not "/,
      ),
    ]);
  });

  test.each(['0x12', address.slice(2), `${address}00`, '12'])('the address %s', (brandId) => {
    const text = `brands:\n  - { name: B, domains: [b.example], brandId: ${brandId} }`;
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(/^f\.yaml:2:47 brands\[0\]\.brandId: must be an address: 0x and 40 hex/),
    ]);
  });

  test.each([
    ['an e-mail', 'email: alice, login: al', '2:14 users[0].email: must be an e-mail address, not "alice"'],
    [
      'a login',
      'email: a@b.example, login: A b',
      '2:34 users[0].login: must be a login name: 2 to 40 small letters, digits, dots, hyphens and underscores, not "A b"',
    ],
  ])('%s', (_, fields, complaint) => {
    const text = `users:\n  - { ${fields}, applicationPassword: aaaa bbbb cccc dddd eeee ffff }`;
    expect(problemsOf(text)).toEqual([`f.yaml:${complaint}`]);
  });
});

describe('what is no plain YAML', () => {
  test.each([
    ['not YAML', 'brands: [', /^f\.yaml:1:10 cannot be read as YAML: /],
    ['a tag', 'brands: !!js/function x', /^f\.yaml:1:9 cannot be read as YAML: Unresolved tag/],
    ['two documents', 'brands: []\n---\nusers: []', /^f\.yaml:2:1 cannot be read as YAML: /],
    ['a list', '- a', /^f\.yaml:1:1 must be a map with `brands` and `users`$/],
    ['a text', 'hello', /^f\.yaml:1:1 must be a map with `brands` and `users`, not "hello"$/],
    ['a number as a key', 'brands: []\n1: 2', /^f\.yaml:2:1 has a key that is not text$/],
    ['a list as a key', 'brands: []\n? [a]\n: 2', /^f\.yaml:2:3 has a key that is not text$/],
    ['a merge', 'brands: []\n<<: { users: [] }', /^f\.yaml:2:1 <<: is unknown; /],
    [
      'an anchor that is not set',
      'brands: *b',
      /^f\.yaml:1:9 brands: uses the anchor b, which is not set before$/,
    ],
    ['an anchor within itself', 'brands: &b [*b]', /^f\.yaml:1:13 brands\[0\]: contains itself$/],
    ['more than 1 MB', `#${'x'.repeat(1_000_000)}`, /^f\.yaml:1:1 is larger than 1 MB$/],
    [
      'a key of the language',
      brandWith('    events:', '      __proto__: { reward: 1 }'),
      /^f\.yaml:6:7 brands\[0\]\.events\.__proto__: is not an allowed key$/,
    ],
    [
      'the same hidden by an escape',
      '"\\u005f_proto__": 1',
      /^f\.yaml:1:1 __proto__: is not an allowed key$/,
    ],
    [
      'an event type twice',
      brandWith('    events:', '      visit: { reward: 1 }', '      visit: { reward: 2 }'),
      /^f\.yaml:7:7 brands\[0\]\.events\.visit: is there twice, the first time at 6:7$/,
    ],
    [
      'a hundred and one uses of anchors',
      `brands: &b []\nusers: [${'*b, '.repeat(101)}]`,
      /^f\.yaml:1:1 uses anchors more than 100 times$/,
    ],
    [
      'uses of anchors that multiply',
      `a: &a [${'x, '.repeat(9)}]\nb: &b [${'*a, '.repeat(9)}]\nc: &c [${'*b, '.repeat(9)}]\nd: [${'*c, '.repeat(9)}]`,
      /^f\.yaml:1:1 uses anchors more than 100 times$/,
    ],
  ])('%s', (_, text, complaint) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(complaint)]);
  });

  test.each([100, 1_000, 20_000])('%i levels of nesting are refused and nothing worse', (depth) => {
    expect(problemsOf(`brands: ${'['.repeat(depth)}${']'.repeat(depth)}`).length).toBeGreaterThan(0);
  });

  test('languages have no other way into an object', () => {
    problemsOf(brandWith('    platforms: { constructor: x }', '    events: { constructor: { reward: 1 } }'));
    expect(({} as Record<string, unknown>).reward).toBeUndefined();
  });
});

test('all complaints come at once, in reading order', () => {
  const second =
    'brands:\n  - name: C\n    domains: []\n    events:\n      a: { reward: -1 }\n      b: { reward: x, cooldown: y }\n';
  expect(problemsOf('users: 3\nbrnads: []', second)).toEqual([
    'f.yaml:1:8 users: must be a list of users, not 3',
    'f.yaml:2:1 brnads: is unknown; did you mean brands?',
    'f2.yaml:2:5 brands[0].brandId: is missing: must be an address: 0x and 40 hexadecimal digits',
    'f2.yaml:3:14 brands[0].domains: must name at least one domain',
    'f2.yaml:5:20 brands[0].events.a.reward: must be a whole number of RWT, 1 or more, not -1',
    'f2.yaml:6:20 brands[0].events.b.reward: must be a whole number of RWT, 1 or more, not "x"',
    'f2.yaml:6:33 brands[0].events.b.cooldown: must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0, not "y"',
  ]);
});

describe('what may be there only once', () => {
  const other = `0x${'cd'.repeat(20)}`;
  const brand = (fields: string) => `brands:\n  - { name: B, ${fields} }\n`;
  test.each([
    [
      'a brand, in whatever case',
      brand(`brandId: ${address}, domains: [b.example]`),
      brand(`brandId: ${address.replaceAll('ab', 'AB')}, domains: [c.example]`),
      `f2.yaml:2:25 brands[0].brandId: the brand ${address.replaceAll('ab', 'AB')} is there twice, the first time at f.yaml:2:25`,
    ],
    [
      'a domain, in whatever form',
      brand(`brandId: ${address}, domains: [b.example]`),
      brand(`brandId: ${other}, domains: ["https://B.example/shop"]`),
      'f2.yaml:2:79 brands[0].domains[0]: the domain https://B.example/shop is there twice, the first time at f.yaml:2:79',
    ],
    [
      'a login',
      'users:\n  - { login: ab, email: a@b.example, applicationPassword: aaaa bbbb cccc dddd eeee ffff }',
      'users:\n  - { login: ab, email: c@b.example, applicationPassword: aaaa bbbb cccc dddd eeee ffff }',
      'f2.yaml:2:14 users[0].login: the login ab is there twice, the first time at f.yaml:2:14',
    ],
    [
      'a user',
      'users:\n  - { login: ab, email: a@b.example, applicationPassword: aaaa bbbb cccc dddd eeee ffff }',
      'users:\n  - { login: cd, email: A@B.example, applicationPassword: aaaa bbbb cccc dddd eeee ffff }',
      'f2.yaml:2:25 users[0].email: the user A@B.example is there twice, the first time at f.yaml:2:25',
    ],
  ])('%s', (_, first, second, complaint) => {
    expect(problemsOf(first, second)).toEqual([complaint]);
  });

  test('a perk of the same number on chain, within one file and beside another mistake', () => {
    const perk = (id: string, cost: string) =>
      `{ id: ${id}, tokenId: 7, name: P, category: digital, cost: ${cost} }`;
    const perks = [
      perk('e1e181ae-4528-46a0-be75-39696d3c73b9', '1'),
      perk('e1b0086d-ebab-4909-9d31-744384225728', '-1'),
    ];
    expect(problemsOf(brandWith(`    perks: [${perks.join(', ')}]`))).toEqual([
      'f.yaml:5:161 brands[0].perks[1].tokenId: the tokenId 7 is there twice, the first time at f.yaml:5:66',
      'f.yaml:5:198 brands[0].perks[1].cost: must be a whole number of RWT, 1 or more, not -1',
    ]);
  });
});

describe('what is understood', () => {
  const rulesOf = (event: string) =>
    parseFixture([{ name: 'f.yaml', text: brandWith(`    events: { visit: ${event} }`) }]).brands[0];

  test('an address needs no quotes, and any case is lowered', () => {
    const text = brandWith().replace(address, address.replace('ab', 'AB'));
    expect(parseFixture([{ name: 'f.yaml', text }]).brands[0]?.brand.brandId).toBe(address);
  });

  test('a domain written as a URL is reduced to its host', () => {
    const text = brandWith().replace(
      '[b.example]',
      '["https://Shop.B.example:8443/path", "c.example/x", bücher.example]',
    );
    expect(parseFixture([{ name: 'f.yaml', text }]).brands[0]?.brand.profile.domains).toEqual([
      'shop.b.example',
      'c.example',
      'xn--bcher-kva.example',
    ]);
  });

  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0', 0],
    ['0s', 0],
  ])('a cooldown of %s', (written, cooldownMs) => {
    expect(rulesOf(`{ reward: 1, cooldown: ${written} }`)?.rules[0]?.cooldownMs).toBe(cooldownMs);
  });

  test.each([
    ['unlimited', -1],
    ['-1', -1],
    ['999999', -1],
    ['1', 1],
    ['999998', 999_998],
  ])('a limit of %s', (written, limit) => {
    expect(
      rulesOf(`{ reward: 1, maxClaims: ${written}, maxTotalClaims: ${written} }`)?.rules[0],
    ).toMatchObject({
      maxClaims: limit,
      maxTotalClaims: limit,
    });
  });

  test('a reward by the order total, and one by the streak', () => {
    const all = rulesOf('{ reward: 1, perUsd: 2.5, maxReward: 50, multiplier: streak }');
    expect(all?.rules[0]?.detail.dynamic).toEqual({ perUsd: 2.5, maxReward: 50, multiplier: 'streak' });
    expect(rulesOf('{ reward: 1 }')?.rules[0]?.detail).not.toHaveProperty('dynamic');
  });

  test('a brand that says only who it is has safe settings', () => {
    const { brands, users } = parseFixture([{ name: 'f.yaml', text: brandWith() }]);
    expect(users).toEqual([]);
    expect(brands[0]).toMatchObject({
      brand: {
        automation: true,
        profile: { platforms: {}, clientBypass: 'credential', mintTo: 'wallet', pregenerate: 'open' },
      },
      rules: [],
      escrow: 0,
      perks: [],
    });
    expect(brands[0]).not.toHaveProperty('apiKey');
    expect(brands[0]).not.toHaveProperty('webhook');
  });

  test('names of events are kept where there are any', () => {
    const profileOf = (...lines: string[]) =>
      parseFixture([{ name: 'f.yaml', text: brandWith(...lines) }]).brands[0]?.brand.profile;
    const names = { signup: 'account_creation', 'shop:order.paid': 'visit' };
    expect(profileOf(`    eventNameMapping: ${JSON.stringify(names)}`)).toMatchObject({
      eventNameMapping: names,
    });
    for (const none of ['', '    eventNameMapping: {}'])
      expect(profileOf(none)).not.toHaveProperty('eventNameMapping');
  });

  test("aliases are read as the ledger has them, whatever is written; a brand's own", () => {
    const text = brandWith(
      '    aliases: { WP_42@Own.example: Ada@mail.example, old@mail.example: ada@mail.example }',
    );
    const second = `\n  - name: C\n    brandId: ${other}\n    domains: [c.example]`;
    const { brands } = parseFixture([{ name: 'f.yaml', text: text + second }]);
    expect(brands.map(({ aliases }) => aliases)).toEqual([
      [
        { alias: 'wp_42@own.example', user: 'ada@mail.example' },
        { alias: 'old@mail.example', user: 'ada@mail.example' },
      ],
      [],
    ]);
  });

  test('an anchor stands for what it names, and complaints point there', () => {
    const events = (reward: string) => `    events: { visit: &once { reward: ${reward} }, again: *once }`;
    expect(
      parseFixture([{ name: 'f.yaml', text: brandWith(events('3')) }]).brands[0]?.rules.map(
        ({ eventType, rewardAmount }) => [eventType, rewardAmount],
      ),
    ).toEqual([
      ['visit', 3],
      ['again', 3],
    ]);
    expect(problemsOf(brandWith(events('x')))).toEqual([
      'f.yaml:5:38 brands[0].events.visit.reward: must be a whole number of RWT, 1 or more, not "x"',
      'f.yaml:5:38 brands[0].events.again.reward: must be a whole number of RWT, 1 or more, not "x"',
    ]);
  });

  test.each(['', '# nothing yet\n', '{}', '\uFEFFbrands: []\r\n'])('an empty file: %j', (text) => {
    expect(parseFixture([{ name: 'f.yaml', text }])).toEqual({ brands: [], users: [] });
  });
});

describe('files', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'rewards-fixture-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const problemsOfFiles = async (...paths: string[]) =>
    loadFixture(paths).then(
      () => [],
      (error: FixtureError) => error.problems.map(problemText),
    );

  test('are merged in the order in which they are given', async () => {
    const [one, two] = [join(dir, 'one.yaml'), join(dir, 'two.yaml')];
    await writeFile(one, brandWith());
    await writeFile(two, brandWith().replaceAll('ab', 'cd').replace('b.example', 'c.example'));
    const { brands } = await loadFixture([two, one]);
    expect(brands.map(({ brand }) => brand.profile.domains[0])).toEqual(['c.example', 'b.example']);
  });

  test('that cannot be read are complained of together with the others', async () => {
    await writeFile(join(dir, 'latin.yaml'), Buffer.from([0x61, 0xe9, 0x62]));
    await writeFile(join(dir, 'wrong.yaml'), 'users: 1');
    const paths = ['none.yaml', '.', 'latin.yaml', 'wrong.yaml'].map((name) => join(dir, name));
    expect(await problemsOfFiles(...paths)).toEqual([
      expect.stringMatching(/none\.yaml:1:1 cannot be read: ENOENT/),
      expect.stringMatching(/:1:1 cannot be read: EISDIR/),
      expect.stringMatching(/latin\.yaml:1:1 is not UTF-8 text$/),
      expect.stringMatching(/wrong\.yaml:1:8 users: must be a list of users, not 1$/),
    ]);
  });

  test('that never end are given up', async () => {
    expect(await problemsOfFiles('/dev/zero')).toEqual(['/dev/zero:1:1 is larger than 1 MB']);
  });
});
