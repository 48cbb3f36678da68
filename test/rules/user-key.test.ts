/** The one form under which a user is counted: nobody may be two users by writing their address differently. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressKey, EMAIL_PATTERN, emailKey } from '../../src/rules/user-key.ts';
import { anyCharacter } from '../kits/run/any-character.ts';

describe('contract: Event submission, userEmail', () => {
  test.each<[string, string | undefined]>([
    ['alice@example.com', 'alice@example.com'],
    ['Alice@Example.COM', 'alice@example.com'],
    ['  alice@example.com ', 'alice@example.com'],
    ['alice+shop@example.com', 'alice+shop@example.com'],
    ['a.l.i.c.e@example.com', 'a.l.i.c.e@example.com'],
    ['a@bücher.example', 'a@xn--bcher-kva.example'],
    ['a@XN--bcher-kva.example', 'a@xn--bcher-kva.example'],
    ['a@ｅxample.com', 'a@example.com'],
    ["o'brien@example.ie", "o'brien@example.ie"],
    ["!#$%&'*+/=?^_`{|}~-@example.com", "!#$%&'*+/=?^_`{|}~-@example.com"],
    ['jos\u00e9@example.com', 'jos\u00e9@example.com'],
    ['jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['JOSE\u0301@example.com', 'jos\u00e9@example.com'],
    ['"ali ce"@example.com', '"ali ce"@example.com'],
    ['"ali ce"@localhost', '"ali ce"@localhost'],
    ['x"ali ce"@example.com', undefined],
    ['"ali ce"x@example.com', undefined],
    ['x."ali ce"@example.com', undefined],
    ['"ali ce".x@example.com', undefined],
    ['"a@b"@example.com', '"a@b"@example.com'],
    ['"Alice"@example.com', 'alice@example.com'],
    ['"al\\ice"@example.com', undefined],
    ['"alice@example.com', undefined],
    ['""@example.com', undefined],
    ['alice', undefined],
    ['@example.com', undefined],
    ['alice@', undefined],
    ['a@b@example.com', undefined],
    ['.alice@example.com', undefined],
    ['alice.@example.com', undefined],
    ['al..ice@example.com', undefined],
    ['alice@example.com.', undefined],
    ['alice@.example.com', undefined],
    ['alice@example..com', undefined],
    ['Alice <alice@example.com>', undefined],
    ['alice(home)@example.com', undefined],
    ['alice@example.com, bob@example.com', undefined],
    ['everyone: alice@example.com;', undefined],
    ['alice@example.com:25', undefined],
    ['alice@exa mple.com', undefined],
    ['ali ce@example.com', undefined],
    ['alice@example.com/path', undefined],
    ['alice@example%2ecom', undefined],
    ['alice@[127.0.0.1]', undefined],
    ['', undefined],
  ])('%j is counted as %j', (text, key) => {
    expect(emailKey(text)).toBe(key);
    // The pattern takes all of them, and leaves only the names of hosts to the service.
    if (key !== undefined) expect(text).toMatch(new RegExp(EMAIL_PATTERN));
  });

  test.each([
    'alice',
    '@example.com',
    'a b@example.com',
    'a@b@example.com',
    'a@b.example/path',
    'a@b.example, c@d.example',
  ])('%j is refused by the pattern as well', (text) => expect(text).not.toMatch(new RegExp(EMAIL_PATTERN)));

  const long = (length: number) => `${'a'.repeat(length - 12)}@example.com`;
  test('254 characters are an address, 255 are none', () => {
    expect(emailKey(long(254))).toBe(long(254));
    expect(emailKey(long(255))).toBeUndefined();
  });

  test('the worst of texts is read to its end', () => {
    const worst = [
      '"'.repeat(254),
      `"${'a '.repeat(31)}"@b`,
      `"${'a '.repeat(120)}"@b`,
      `"${'\\a'.repeat(120)}"@b`,
      `${'('.repeat(120)}${')'.repeat(120)}@b`,
      `${'a.'.repeat(120)}a@b`,
      `${'a.'.repeat(120)}@b`,
      'a@'.repeat(127),
      `a@${'b.'.repeat(120)}b`,
    ];
    // An expression that goes back and forth in one of them would not end before the test is given up.
    const isTaken = worst.map((text) => emailKey(text) !== undefined);
    expect(isTaken).toEqual([false, true, false, false, false, true, false, false, true]);
  });

  test('however it is written, it stays one user; and its key is its own key', () => {
    const local = fc.stringMatching(/^[a-z0-9]+([.+_-][a-z0-9]+)?$/);
    const spelling = fc.record({
      local,
      upper: fc.func(fc.boolean()),
      blanks: fc.constantFrom('', ' ', '  '),
    });
    fc.assert(
      fc.property(spelling, ({ local, upper, blanks }) => {
        const plain = `${local}@example.com`;
        const spelled = [...plain].map((char, n) => (upper(n) ? char.toUpperCase() : char)).join('');
        return emailKey(`${blanks}${spelled}${blanks}`) === plain && emailKey(plain) === plain;
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: anyCharacter })), (text) => {
        const key = emailKey(text);
        return key === undefined || emailKey(key) === key;
      }),
      { numRuns: 2_000 },
    );
  });

  test('different people stay different', () => {
    const letters = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    fc.assert(
      fc.property(letters, letters, fc.constantFrom('.', '+', '-', '_'), (a, b, between) => {
        const keys = [`${a}@example.com`, `${a}${between}${b}@example.com`, `${a}${b}@example.com`].map(
          emailKey,
        );
        return new Set(keys).size === 3;
      }),
    );
  });
});

describe('contract: Event submission, userIdentifier', () => {
  const address = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';
  test.each<[string, string | undefined]>([
    [address, address],
    [address.toUpperCase().replace('0X', '0x'), address],
    [` ${address} `, address],
    [address.toUpperCase(), address],
    [address.slice(2), undefined],
    [`x${address}`, undefined],
    [`${address}0`, undefined],
    [address.slice(0, -1), undefined],
    [`${address.slice(0, -1)}g`, undefined],
    ['', undefined],
  ])('%j is the account %j', (text, key) => {
    expect(addressKey(text)).toBe(key);
  });
});
