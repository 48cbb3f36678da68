/** Whether a processor's session pays for a mint: the contract's messages, and every way of tampering. */
import { describe, expect, test } from 'vitest';
import {
  checkSession,
  type PlannedPayment,
  type SessionFacts,
} from '../../src/rules/payments/session-checks.ts';

const WALLET = `0x${'ab'.repeat(20)}`;
const planned: PlannedPayment = {
  wallet: WALLET,
  amountCents: 2_500,
  currency: 'usd',
  livemode: false,
  refundedCents: 0,
  disputed: false,
};
const paid: SessionFacts = {
  paymentStatus: 'paid',
  amountTotal: 2_500,
  currency: 'usd',
  livemode: false,
  metadata: { wallet: WALLET, usd_amount: '25', rwt_amount: '25000' },
  refundedAmount: 0,
  disputed: false,
};
const withMetadata = (change: Record<string, string | undefined>): SessionFacts => ({
  ...paid,
  metadata: Object.fromEntries(
    Object.entries({ ...paid.metadata, ...change }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>,
});
const refused = (code: string) => ({ refusal: { code } });
const uncompleted = (status: string) => ({ refusal: { code: 'payment_not_completed', status } });

test('a paid session that is as it was planned mints', () => {
  const mint = { usdCents: 2_500, rwtAmount: 25_000 };
  expect(checkSession(paid, planned)).toEqual({ mint });
  expect(checkSession(withMetadata({ wallet: WALLET.toUpperCase().replace('0X', '0x') }), planned)).toEqual({
    mint,
  });
  expect(checkSession(withMetadata({ usd_amount: '25.00', more: 'than ours' }), planned)).toEqual({ mint });
});

test.each(['unpaid', 'no_payment_required', 'pending', '', 'PAID', 'paid ', 'paid_some_day'])(
  'nothing is minted for the status %j',
  (paymentStatus) => {
    expect(checkSession({ ...paid, paymentStatus }, planned)).toEqual(uncompleted(paymentStatus));
  },
);

test('the status counts before what else is wrong', () => {
  expect(checkSession({ ...paid, paymentStatus: 'unpaid', metadata: {} }, planned)).toEqual(
    uncompleted('unpaid'),
  );
});

test('money that went back, or is asked back, mints nothing, whoever knows of it', () => {
  expect(checkSession({ ...paid, refundedAmount: 1 }, planned)).toEqual(uncompleted('refunded'));
  expect(checkSession(paid, { ...planned, refundedCents: 2_500 })).toEqual(uncompleted('refunded'));
  expect(checkSession({ ...paid, disputed: true }, planned)).toEqual(uncompleted('disputed'));
  expect(checkSession(paid, { ...planned, disputed: true, refundedCents: 1 })).toEqual(
    uncompleted('disputed'),
  );
});

describe('another wallet', () => {
  test.each([
    undefined,
    '',
    '0x',
    'ab'.repeat(20),
    ` ${WALLET}`,
    `${WALLET}\n`,
    `${WALLET}00`,
    WALLET.slice(0, -1),
    `0x${'cd'.repeat(20)}`,
    `0x${'0'.repeat(40)}`,
    'vitalik.eth',
  ])('%j', (wallet) => {
    expect(checkSession(withMetadata({ wallet }), planned)).toEqual(refused('invalid_wallet_address'));
  });

  test('inherited from a prototype', () => {
    const metadata = Object.create({ wallet: WALLET }) as Record<string, string>;
    expect(checkSession({ ...paid, metadata }, planned)).toEqual(refused('invalid_wallet_address'));
  });
});

describe('amounts that do not fit each other', () => {
  test.each([
    { usd_amount: '26' },
    { rwt_amount: '25001' },
    { rwt_amount: '2500' },
    { usd_amount: '25.01' },
    { usd_amount: '0.01', rwt_amount: '25000' },
  ])('%j', (change) => {
    expect(checkSession(withMetadata(change), planned)).toEqual(refused('amount_mismatch'));
  });
});

describe('amounts that are none, or are not what was planned and paid', () => {
  test.each<[string, SessionFacts]>([
    ['no dollars', withMetadata({ usd_amount: undefined })],
    ['no RWT', withMetadata({ rwt_amount: undefined })],
    ['an exponent', withMetadata({ usd_amount: '1e3', rwt_amount: '1000000' })],
    ['a sign', withMetadata({ usd_amount: '+25' })],
    ['a leading zero', withMetadata({ rwt_amount: '025000' })],
    ['digits of another script', withMetadata({ usd_amount: '２５' })],
    ['a fraction of a cent', withMetadata({ usd_amount: '25.001', rwt_amount: '25001' })],
    ['more than was planned, in itself right', withMetadata({ usd_amount: '250', rwt_amount: '250000' })],
    ['less than was planned, in itself right', withMetadata({ usd_amount: '2.50', rwt_amount: '2500' })],
    ['less paid', { ...paid, amountTotal: 50 }],
    ['more paid', { ...paid, amountTotal: 250_000 }],
    ['no total', { ...paid, amountTotal: null }],
    ['another currency', { ...paid, currency: 'jpy' }],
    ['the currency in capitals', { ...paid, currency: 'USD' }],
    ['no currency', { ...paid, currency: null }],
    ['the other mode', { ...paid, livemode: true }],
  ])('%s', (_what, session) => {
    expect(checkSession(session, planned)).toEqual(refused('invalid_amount'));
  });
});
