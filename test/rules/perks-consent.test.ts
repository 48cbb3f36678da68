/** On whose word RWT is spent: every caller, every setting, and what a brand may collect without the user. */
import { describe, expect, test } from 'vitest';
import {
  type Asker,
  agreeOn,
  type Grant,
  isTokenOf,
  redemptionsOf,
  refuseAsker,
  refusePermit,
  unspentOf,
} from '../../src/rules/perks/consent.ts';

const wallet = `0x${'a1'.repeat(20)}` as const;
const other = `0x${'b2'.repeat(20)}` as const;
const escrow = `0x${'e5'.repeat(20)}` as const;
const ownDomain = 'chat.rewards.example';
const named = { userKey: 'alice@people.example', userAddress: undefined, wallet };
const nobody: Asker = { withBrandKey: false, origin: undefined, tokenUser: undefined, withPermit: false };
const paid = (rwt: number): Grant => ({ paid: rwt, collected: 0, spentElsewhere: 0 });

describe('who may ask at all', () => {
  const refusal = (redemptions: 'open' | 'key' | 'token', asker: Partial<Asker>) =>
    refuseAsker(
      { brandId: '0xb', redemptions },
      { ...nobody, ...asker },
      (origin) => origin === 'https://own.example',
    )?.code;
  test.each<[string, Partial<Asker>, unknown[]]>([
    ['anybody', {}, [undefined, 'brand_key_required', undefined]],
    ['a page of the brand', { origin: 'https://own.example' }, [undefined, 'brand_key_required', undefined]],
    [
      'a page elsewhere',
      { origin: 'https://evil.example' },
      ['origin_not_allowed', 'brand_key_required', undefined],
    ],
    [
      "the brand's server",
      { withBrandKey: true, origin: 'https://evil.example' },
      [undefined, undefined, undefined],
    ],
    [
      'a user',
      { tokenUser: { wallets: [wallet] }, origin: 'https://evil.example' },
      [undefined, undefined, undefined],
    ],
    ['a permit', { withPermit: true }, [undefined, undefined, undefined]],
  ])('%s, where redemptions are open, with the key, and with the token', (_, asker, codes) => {
    expect([refusal('open', asker), refusal('key', asker), refusal('token', asker)]).toEqual(codes);
  });
  test('a brand from before the setting takes redemptions with its key', () => {
    expect([redemptionsOf({}), redemptionsOf({ redemptions: 'open' })]).toEqual(['key', 'open']);
  });
});

describe("a token is the named user's", () => {
  test.each<[string, Parameters<typeof isTokenOf>[0], Partial<typeof named> | object, boolean]>([
    ['by their wallet', { wallets: [other, wallet] }, {}, true],
    ['by their e-mail', { email: 'alice@people.example', wallets: [] }, {}, true],
    ['not by another e-mail', { email: 'mallory@people.example', wallets: [other] }, {}, false],
    [
      'not by an e-mail where an address is named',
      { email: 'alice@people.example', wallets: [] },
      { userAddress: wallet, userKey: wallet },
      false,
    ],
    [
      "not by a chat user's stand-in, whoever reads that mailbox",
      { email: `discord_1@${ownDomain}`, wallets: [other] },
      { userKey: `discord_1@${ownDomain}` },
      false,
    ],
    [
      "by the wallet of a chat user's own",
      { wallets: [wallet] },
      { userKey: `discord_1@${ownDomain}` },
      true,
    ],
  ])('%s', (_, tokenUser, change, expected) => {
    expect(isTokenOf(tokenUser, { ...named, ...change }, ownDomain)).toBe(expected);
  });
});

describe('a permit', () => {
  const good = { owner: wallet, spender: escrow, value: 50n, deadlineSeconds: 100n };
  const of = { wallet, escrow, cost: 50, holdsUntilMs: 100_000 };
  const fresh = { state: 'fresh' } as const;
  test.each([
    ['its last second', good, fresh, undefined],
    ['too late', { ...good, deadlineSeconds: 99n }, fresh, 'expired'],
    ['of another owner', { ...good, owner: other }, fresh, 'not_of_wallet'],
    ['to another spender', { ...good, spender: other }, fresh, 'wrong_spender'],
    ['one RWT too few', { ...good, value: 49n }, fresh, 'too_small'],
    ['not signed', good, { state: 'not_signed' } as const, 'not_signed'],
    [
      'used, with enough left',
      { ...good, deadlineSeconds: 1n },
      { state: 'used', allowance: 50n } as const,
      undefined,
    ],
    ['used, with too little left', good, { state: 'used', allowance: 49n } as const, 'used_up'],
  ])('%s', (_, permit, standing, problem) => {
    expect(refusePermit({ permit, standing }, of)).toBe(problem);
  });
});

test.each([
  [{ paid: 100, collected: 30, spentElsewhere: 20 }, 50],
  [{ paid: 100, collected: 100, spentElsewhere: 0 }, 0],
  [{ paid: 10, collected: 0, spentElsewhere: 500 }, 0],
])('of %j a brand may collect %i', (grant, collectable) => {
  expect(unspentOf(grant)).toBe(collectable);
});

describe('on whose word', () => {
  const agree = (
    redemptions: 'open' | 'key' | 'token',
    asker: Partial<Asker>,
    about: Partial<Parameters<typeof agreeOn>[1]> = {},
  ) => {
    const agreed = agreeOn(
      { asker: { ...nobody, ...asker }, redemptions },
      { named, ownDomain, cost: 50, permit: undefined, isUser: true, grant: paid(50), ...about },
    );
    return 'refusal' in agreed ? agreed.refusal : [agreed.agreement.consent, agreed.agreement.wallet];
  };
  const alice = { tokenUser: { email: 'alice@people.example', wallets: [wallet] } };
  const mallory = { tokenUser: { email: 'mallory@people.example', wallets: [other] } };
  test('the user, by token or permit, whatever the brand has paid', () => {
    for (const setting of ['open', 'key', 'token'] as const) {
      expect(agree(setting, alice, { grant: paid(0) })).toEqual(['token', wallet]);
      const permit = { problem: undefined };
      expect(agree(setting, { withPermit: true }, { permit, grant: paid(0) })).toEqual(['permit', wallet]);
    }
  });
  test('no one, with the token of another user or a permit that does not pay', () => {
    expect(agree('open', mallory)).toEqual({ code: 'not_the_tokens_user' });
    expect(agree('open', mallory, { permit: { problem: undefined } })).toEqual({
      code: 'not_the_tokens_user',
    });
    expect(agree('open', alice, { permit: { problem: 'too_small' } })).toEqual({
      code: 'permit_refused',
      problem: 'too_small',
    });
  });
  test('the brand, as far as it has paid, of users alone', () => {
    expect(agree('open', {})).toEqual(['grant', wallet]);
    expect(agree('key', { withBrandKey: true })).toEqual(['grant', wallet]);
    expect(agree('key', { withBrandKey: true }, { grant: paid(49) })).toEqual({
      code: 'consent_required',
      collectable: 49,
    });
    expect(agree('key', { withBrandKey: true }, { isUser: false })).toEqual({
      code: 'consent_required',
      collectable: 0,
    });
    for (const asker of [{}, { withBrandKey: true }])
      expect(agree('token', asker)).toEqual({ code: 'consent_required', collectable: 0 });
    expect(agree('token', { withBrandKey: true }, { cost: 0 })).toEqual({
      code: 'consent_required',
      collectable: 0,
    });
    expect(agree('open', {}, { cost: 0, grant: paid(0) })).toEqual(['grant', wallet]);
  });
});
