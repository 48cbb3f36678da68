/** What is taken out of every text (contract: all string input is sanitised). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sanitiseText, sanitiseValue } from '../../src/rules/sanitise.ts';
import { anyCharacter } from '../kits/run/any-character.ts';

describe('contract: Event submission, sanitising', () => {
  test.each([
    ['plain text', 'plain text'],
    ['a\u0000b', 'ab'],
    ['a\tb\r\nc', 'abc'],
    ['\u001b[31mred', '[31mred'],
    ['a\u007fb', 'ab'],
    ['a\u0080\u0085\u009fb', 'ab'],
    ['a\u202eb\u2066c\u2069', 'abc'],
    ['a\u200e\u200f\u061cb', 'ab'],
    ['a\ud800b', 'ab'],
    ['a\udc00b', 'ab'],
    ['\u{1f600}', '\u{1f600}'],
    ['é ü 漢字 \u{20000}', 'é ü 漢字 \u{20000}'],
  ])('%j becomes %j', (text, clean) => {
    expect(sanitiseText(text)).toBe(clean);
  });

  const unwanted = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

  test('no text and no name in any value keeps one, and everything else is kept', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.object({ key: text, values: [text, fc.double(), fc.boolean(), fc.constant(null)] }),
        (value) => {
          const clean = JSON.stringify(sanitiseValue(value)) ?? '';
          expect(unwanted.test(clean)).toBe(false);
          expect(/\p{Surrogate}/u.test(clean)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aZ9 .-_ü漢') }),
        (plain) => sanitiseText(plain) === plain,
      ),
    );
  });

  test('what is no text keeps its kind', () => {
    const value = { list: ['a\u0000', 5, [true]], none: null, number: 1.5, yes: true, gone: undefined };
    expect(sanitiseValue(value)).toStrictEqual({ ...value, list: ['a', 5, [true]] });
  });

  test('a name that becomes dangerous by it is left out', () => {
    const smuggled = JSON.parse('{"__pro\\u0000to__":{"skip_cooldown":true},"kept":{"__proto\\u0007__":1}}');
    const clean = sanitiseValue(smuggled) as Record<string, unknown>;
    expect(clean).toEqual({ kept: {} });
    expect(Object.hasOwn(clean, '__proto__')).toBe(false);
    expect(clean.skip_cooldown).toBeUndefined();
  });
});
