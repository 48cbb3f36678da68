/** For property tests: texts of any characters. fast-check's own unit `binary` takes a second of processor time to be made. */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** Every code point except the halves of characters, so that each text is one that UTF-8 can hold. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count));
