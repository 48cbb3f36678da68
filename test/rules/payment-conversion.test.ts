/** What a payment is worth: cents, dollars as text, RWT. */
import { describe, expect, test } from 'vitest';
import {
  centsOfUsd,
  PAYMENT_CENTS,
  rwtForCents,
  rwtOfText,
  usdText,
} from '../../src/rules/payments/conversion.ts';

test('a dollar is 1000 RWT, and a cent is 10', () => {
  expect(rwtForCents(100)).toBe(1_000);
  expect(rwtForCents(1)).toBe(10);
  expect(rwtForCents(PAYMENT_CENTS.most)).toBe(999_999_990);
});

test('what the service writes, it reads again as the same cents, for every amount up to a hundred dollars', () => {
  for (let cents = 1; cents <= 10_000; cents += 1) expect(centsOfUsd(usdText(cents))).toBe(cents);
  expect(centsOfUsd(usdText(PAYMENT_CENTS.most))).toBe(PAYMENT_CENTS.most);
});

test.each([
  [500, '5'],
  [550, '5.50'],
  [505, '5.05'],
  [50, '0.50'],
  [100_000, '1000'],
])('%i cents are written as %s', (cents, text) => {
  expect(usdText(cents)).toBe(text);
});

/** Spellings that some reader of numbers takes for an amount, of dollars and of RWT alike. */
const ODD = [
  '',
  ' ',
  '0',
  '-5',
  '+5',
  '-0',
  '5e0',
  '1e3',
  '1E3',
  '0x5',
  '0b101',
  '0o5',
  '05',
  '00',
  '5.',
  '.5',
  '5.5',
  '5.000',
  '5.001',
  '4.999',
  '5,00',
  '5,000',
  '5_000',
  '5 000',
  ' 5',
  '5 ',
  '5\n',
  '\u00a05',
  '5\u200b',
  '5\0',
  '$5',
  '5 USD',
  '5n',
  'NaN',
  'Infinity',
  'null',
  'true',
  '[5]',
  '٥',
  '５',
  '५',
  '²',
  '99999999999999999999',
  `1${'0'.repeat(400)}`,
];

describe('refused as dollars', () => {
  test.each([...ODD, '0.00', '1000000.00', '999999.999'])('%j', (text) => {
    expect(centsOfUsd(text)).toBeUndefined();
  });
});

describe('refused as RWT', () => {
  test.each([...ODD, '5000.0', '5000.00', '999999991', '9007199254740993'])('%j', (text) => {
    expect(rwtOfText(text)).toBeUndefined();
  });
});

test.each([
  ['5000', 5_000],
  ['10', 10],
  ['999999990', 999_999_990],
])('%s is RWT', (text, amount) => {
  expect(rwtOfText(text)).toBe(amount);
});
