/** Contract: Pregenerated wallet, request; and the forms of ids that the design fixes. */
import { describe, expect, test } from 'vitest';
import { platformNames } from '../../src/rules/platforms.ts';
import { readRegistration, USERNAME_MAX } from '../../src/rules/registration.ts';

const brandId = `0x${'a'.repeat(40)}`;
const discord = {
  brand_id: brandId,
  oauth_provider: 'discord',
  oauth_user_id: '123456789012345678',
  oauth_username: 'alice#1234',
};
const read = (fields: Record<string, unknown>) =>
  readRegistration(fields, { ownDomain: 'rewards.localhost' });
const without = (field: string) =>
  Object.fromEntries(Object.entries(discord).filter(([name]) => name !== field));

test('an account on a platform is the user of its events', () => {
  expect(read(discord)).toEqual({
    registration: {
      brandId,
      provider: 'discord',
      providerUserId: '123456789012345678',
      username: 'alice#1234',
      userKey: 'discord_123456789012345678@rewards.localhost',
    },
  });
});

test('brand and platform in any case, ids with spaces around them, are the same', () => {
  const loud = {
    ...discord,
    brand_id: ` ${brandId.toUpperCase().replace('0X', '0x')} `,
    oauth_provider: ' Discord ',
    oauth_user_id: '\u200e123456789012345678 ',
  };
  expect(read(loud)).toEqual(read(discord));
});

test('an e-mail in place of an account', () => {
  expect(read({ brand_id: brandId, email: ' Alice@DEMO.example' })).toEqual({
    registration: {
      brandId,
      provider: 'email',
      providerUserId: 'alice@demo.example',
      username: null,
      userKey: 'alice@demo.example',
    },
  });
  for (const email of ['alice', 'a@b@c', `${'x'.repeat(250)}@a.example`, 7, {}, true]) {
    expect(read({ brand_id: brandId, email })).toEqual({ problem: { code: 'invalid_email' } });
  }
});

test.each(['brand_id', 'oauth_provider', 'oauth_user_id'])('%s must be there', (field) => {
  for (const nothing of [undefined, null, '', ' ', '\u0000']) {
    const fields = nothing === undefined ? without(field) : { ...discord, [field]: nothing };
    expect(read(fields)).toEqual({ problem: { code: 'missing_fields', missing: [field] } });
  }
});

test('all that is missing is named; an e-mail needs only its brand', () => {
  expect(read({})).toEqual({
    problem: {
      code: 'missing_fields',
      missing: ['brand_id', 'oauth_provider', 'oauth_user_id'],
    },
  });
  expect(read({ email: 'a@b.example' })).toEqual({
    problem: { code: 'missing_fields', missing: ['brand_id'] },
  });
});

test('both forms at once are neither', () => {
  expect(read({ ...discord, email: 'a@b.example' })).toEqual({ problem: { code: 'mixed_forms' } });
  for (const field of ['oauth_provider', 'oauth_user_id', 'oauth_username'])
    expect(read({ brand_id: brandId, email: 'a@b.example', [field]: 'x' })).toEqual({
      problem: { code: 'mixed_forms' },
    });
  expect(read({ ...discord, email: '' })).toEqual(read(discord));
});

test.each(['0x1', brandId.slice(2), `${brandId}0`, 'shop.example', 12, [brandId]])('%j is no brand', (id) => {
  expect(read({ ...discord, brand_id: id })).toEqual({ problem: { code: 'invalid_brand_id' } });
});

test.each(['myspace', 'toString', '__proto__', 'disc ord', 3, {}])('%j is no platform', (provider) => {
  expect(read({ ...discord, oauth_provider: provider })).toMatchObject({
    problem: { code: 'invalid_oauth_provider', allowed: platformNames },
  });
});

test('a platform that is not known is shown as it was understood, cut', () => {
  const shown = (oauth_provider: unknown) => {
    const outcome = read({ ...discord, oauth_provider });
    return 'problem' in outcome && 'provider' in outcome.problem ? outcome.problem.provider : undefined;
  };
  expect(shown(' My\u0007Space ')).toBe('myspace');
  expect(shown('x'.repeat(80))).toBe('x'.repeat(60));
  expect(shown({})).toBe('');
});

test.each([
  ['discord', '17 to 20 digits'],
  ['telegram', '1 to 16 digits'],
  ['twitter', '1 to 19 digits'],
  ['twitch', '1 to 19 digits'],
  ['slack', '1 to 128 letters, digits and . _ @ + -'],
  ['email', 'an e-mail address'],
])('what an id of %s must be is said: %s', (provider, expected) => {
  const problem = { code: 'invalid_oauth_user_id', provider, expected };
  expect(read({ ...discord, oauth_provider: provider, oauth_user_id: '?' })).toEqual({ problem });
});

test.each([
  ['slack', 'U024.BE', 'u024.be', 'slack_u024.be@rewards.localhost'],
  ['slack', 'a..b.', 'a..b.', 'slack_a%2e.b%2e@rewards.localhost'],
  ['whatsapp', '4915@c.us', '4915@c.us', 'whatsapp_4915%40c.us@rewards.localhost'],
  ['email', 'A@b\u00fccher.example', 'a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
])('the user of %s with the id %s is %s, counted as %s', (provider, id, providerUserId, userKey) => {
  expect(read({ ...discord, oauth_provider: provider, oauth_user_id: id })).toMatchObject({
    registration: { provider, providerUserId, userKey },
  });
});

describe('ids', () => {
  const accepted = (provider: string, id: unknown) => {
    const outcome = read({ ...discord, oauth_provider: provider, oauth_user_id: id });
    if ('problem' in outcome)
      expect(outcome.problem).toMatchObject({ code: 'invalid_oauth_user_id', provider });
    return 'registration' in outcome;
  };
  test.each([
    [
      'discord',
      ['1'.repeat(17), '1'.repeat(20)],
      ['1'.repeat(16), '1'.repeat(21), 'alice', '12345678901234567x'],
    ],
    ['telegram', ['1', '5'.repeat(16), 12345], ['0', '-5', '5'.repeat(17), '@alice', '007']],
    ['twitter', ['12', '9'.repeat(19)], ['0', '9'.repeat(20), 'jack', '1.5']],
    ['twitch', ['1', '9'.repeat(19)], ['', '9'.repeat(20), 'ninja'].slice(1)],
  ] as [string, unknown[], unknown[]][])('of %s', (provider, good, bad) => {
    expect(platformNames).toContain(provider);
    for (const id of good) expect([id, accepted(provider, id)]).toEqual([id, true]);
    for (const id of bad) expect([id, accepted(provider, id)]).toEqual([id, false]);
  });
  test('a number that has lost its last digits is refused', () => {
    expect(accepted('discord', Number('123456789012345678'))).toBe(false);
    expect(accepted('telegram', 2 ** 53)).toBe(false);
    expect(accepted('telegram', 1.5)).toBe(false);
  });
  test('every platform has a row above', () => {
    const alike = 'farcaster github google slack spotify instagram tiktok whatsapp facebook'.split(' ');
    expect(platformNames).toEqual(['discord', 'telegram', 'twitter', 'twitch', ...alike, 'email', 'x']);
    for (const provider of alike) {
      for (const id of ['1', 'U024BE7LH', 'a.b-c_d', '+4915112345', '4915@c.us', 'x'.repeat(128)])
        expect([provider, id, accepted(provider, id)]).toEqual([provider, id, true]);
      for (const id of ['a b', 'a/b', 'ä', 'x'.repeat(129), '%40'])
        expect([provider, id, accepted(provider, id)]).toEqual([provider, id, false]);
    }
  });
});

test('a username may be long, not longer', () => {
  expect(read({ ...discord, oauth_username: 'é'.repeat(USERNAME_MAX) })).toHaveProperty('registration');
  for (const name of ['x'.repeat(USERNAME_MAX + 1), {}, ['a']]) {
    expect(read({ ...discord, oauth_username: name })).toEqual({
      problem: { code: 'invalid_oauth_username', limit: USERNAME_MAX },
    });
  }
});

test('X is Twitter, an e-mail is itself, and a user without a name is a user', () => {
  const account = { brand_id: brandId, oauth_provider: 'X', oauth_user_id: '12' };
  expect(read(account)).toEqual({
    registration: {
      brandId,
      provider: 'twitter',
      providerUserId: '12',
      username: null,
      userKey: 'twitter_12@rewards.localhost',
    },
  });
  const mail = read({ brand_id: brandId, oauth_provider: 'email', oauth_user_id: 'A@b.example' });
  expect(mail).toEqual(read({ brand_id: brandId, email: 'a@b.example' }));
});

test('ids that differ have keys that differ, whatever signs are in them', () => {
  const ids = ['a@b', 'a.b', 'a..b', 'ab', 'a.', 'a', '.a', 'a+b', 'a-b', 'a_b', '@a.', 'a...b', 'a..'];
  const keys = ids.map((id) => {
    const outcome = read({ ...discord, oauth_provider: 'slack', oauth_user_id: id });
    return 'registration' in outcome ? outcome.registration.userKey : id;
  });
  expect(keys.every((key) => key.endsWith('@rewards.localhost'))).toBe(true);
  expect(new Set(keys).size).toBe(ids.length);
});
