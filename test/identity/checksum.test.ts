/** Addresses in answers: with the checksum of EIP-55, except a brand's id. */
import { expect, test } from 'vitest';
import { checksummed, withChecksums } from '../../src/identity/checksum.ts';

// From EIP-55.
const spelled = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const lower = spelled.toLowerCase();

test('an address gets its checksum, however it is written', () => {
  expect(checksummed(lower)).toBe(spelled);
  expect(checksummed(`0x${spelled.slice(2).toUpperCase()}`)).toBe(spelled);
});

test('every address among the facts, at any depth, but no brandId and no other text', () => {
  const facts = {
    brandId: lower,
    contract: lower,
    allowed: [lower, 'x', 5, null],
    problem: { spender: lower, brandId: lower, none: null, reason: undefined },
    list: [{ at: lower, within: [[lower]] }],
    hash: `${lower}00`,
    behind: `x${lower}`,
    short: lower.slice(0, -1),
    amount: 5,
    yes: true,
  };
  expect(withChecksums(facts)).toEqual({
    ...facts,
    contract: spelled,
    allowed: [spelled, 'x', 5, null],
    problem: { spender: spelled, brandId: lower, none: null, reason: undefined },
    list: [{ at: spelled, within: [[spelled]] }],
  });
});
