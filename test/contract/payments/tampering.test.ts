/** Contract: Mint metadata. A session that is not what was planned never mints, whichever of its fields somebody changed. */
import { describe, expect, test } from 'vitest';
import type { ProcessorObject } from '../../kits/network/processor-proxy.ts';
import { open } from '../kit.ts';
import { onOne, onPayments, type PaymentService } from './kit.ts';

const metadata = (change: Record<string, unknown>) => (session: ProcessorObject) => ({
  ...session,
  metadata: Object.fromEntries(
    Object.entries({ ...session.metadata, ...change }).filter(([, value]) => value !== undefined),
  ),
});
const fields = (change: Record<string, unknown>) => (session: ProcessorObject) => ({ ...session, ...change });

const WALLET = 'Invalid wallet address';
const AMOUNT = 'Invalid amount';
const MISMATCH = 'Amount mismatch';

const tampered: [string, string, (session: ProcessorObject) => ProcessorObject][] = [
  ['no wallet', WALLET, metadata({ wallet: undefined })],
  ['an empty wallet', WALLET, metadata({ wallet: '' })],
  ['a text as wallet', WALLET, metadata({ wallet: 'shop.eth' })],
  ['a wallet that is too short', WALLET, metadata({ wallet: `0x${'a'.repeat(39)}` })],
  ['blanks around the wallet', WALLET, metadata({ wallet: ` 0x${'a'.repeat(40)} ` })],
  ["another brand's wallet", WALLET, metadata({ wallet: open.brandId })],
  ['the zero address', WALLET, metadata({ wallet: `0x${'0'.repeat(40)}` })],
  ['no metadata', WALLET, fields({ metadata: {} })],
  ['metadata of null', WALLET, fields({ metadata: null })],
  ['no dollars', AMOUNT, metadata({ usd_amount: undefined })],
  ['no RWT', AMOUNT, metadata({ rwt_amount: undefined })],
  ...[
    '',
    ' ',
    '0',
    '-25',
    '+25',
    '25.',
    '25.5',
    '025',
    ' 25',
    '25 ',
    '2.5e1',
    '1e3',
    '0x19',
    '25,00',
    '２５',
    '٢٥',
    'NaN',
    '25\u0000',
  ].map((usd): (typeof tampered)[number] => [
    `${JSON.stringify(usd)} dollars`,
    AMOUNT,
    metadata({ usd_amount: usd }),
  ]),
  ...['', '0', '-25000', '25000.0', '2.5e4', '025000', '25 000', '25_000', '99999999999999999999'].map(
    (rwt): (typeof tampered)[number] => [`${JSON.stringify(rwt)} RWT`, AMOUNT, metadata({ rwt_amount: rwt })],
  ),
  ['more RWT than dollars buy', MISMATCH, metadata({ rwt_amount: '2500000' })],
  ['one RWT more', MISMATCH, metadata({ rwt_amount: '25001' })],
  ['more dollars than the RWT cost', MISMATCH, metadata({ usd_amount: '250' })],
  ['ten times of both', AMOUNT, metadata({ usd_amount: '250', rwt_amount: '250000' })],
  ['less of both', AMOUNT, metadata({ usd_amount: '2.50', rwt_amount: '2500' })],
  ['less paid', AMOUNT, fields({ amount_total: 50 })],
  ['more paid', AMOUNT, fields({ amount_total: 250_000 })],
  ['nothing paid', AMOUNT, fields({ amount_total: null })],
  ['another currency', AMOUNT, fields({ currency: 'jpy' })],
  ['no currency', AMOUNT, fields({ currency: null })],
  ['live mode', AMOUNT, fields({ livemode: true })],
  ["another checkout's session", 'Session not found', fields({ client_reference_id: 'another' })],
  ['a session without our id', 'Session not found', fields({ client_reference_id: null })],
  [
    'a coupon over all of it',
    'Payment not completed: no_payment_required',
    fields({ payment_status: 'no_payment_required' }),
  ],
  [
    'a status of the future',
    'Payment not completed: paid_some_day',
    fields({ payment_status: 'paid_some_day' }),
  ],
];

const tests = (get: () => PaymentService) => {
  describe.each(tampered)('%s', (_what, message, change) => {
    test(`mints nothing: ${message}`, async () => {
      const service = get();
      const sessionId = await service.paidSession();
      service.proxy.tamper(change);
      const called = await service.mint(sessionId);
      expect(called).toMatchObject({ status: 400, body: { success: false, message } });
      const text = await service.eventText('checkout.session.completed', sessionId);
      expect(await service.deliver(text)).toMatchObject({
        status: 200,
        body: { success: false, received: true, message },
      });
      expect(await service.mintsOnChain(sessionId)).toBe(0);
      // As it was planned, it mints after all.
      service.proxy.tamper(undefined);
      expect(await service.mint(sessionId)).toMatchObject({ status: 200, body: { success: true } });
    });
  });
};

onPayments('a tampered session', tests, onOne);
