/** What checkout and mint may be refused for, with the contract's messages (contract: payment-mint). */
import type { PaymentRefusal } from '../../rules/payments/session-checks.ts';
import { EXAMPLES_AT_MS, type RefusalRow, type RefusalRows, type Said } from '../refusals.ts';

export type PaymentsRefusal =
  | PaymentRefusal
  /** `problem`: which part of a processor's event does not hold. */
  | { code: 'processor_event_refused'; problem: string; message: string; fix: string }
  | { code: 'payments_not_configured' }
  /** Of callers without the brand's key. `resetAtMs`: when the first of the open ones is over. */
  | { code: 'too_many_open_checkouts'; whose: 'address' | 'brand'; limit: number; resetAtMs: number }
  | { code: 'processor_unavailable' }
  | { code: 'mint_failed'; sessionId: string; reason: string }
  | { code: 'mint_pending'; sessionId: string };

const sessionId = 'cs_test_a1B2c3D4';

/** The contract's message, alone. */
const failure = (reason: string, message: string): Said => ({ message, details: { reason } });
const refused = (when: string, says: Said) =>
  ({ status: 400, when, says }) satisfies RefusalRow<{ code: '' }>;

/** In the order of the checks. */
export const paymentRefusals: RefusalRows<PaymentsRefusal> = {
  payments_not_configured: {
    status: 503,
    when: 'the service was started without a payment processor',
    says: {
      error: 'Payments not configured',
      message: 'This service takes no payments: its operator has set no key of a payment processor.',
      details: { reason: 'payments_not_configured' },
    },
  },
  too_many_open_checkouts: {
    status: 429,
    when: "a caller without the brand's key has 20 checkouts open at its address, or such callers have 1,000 open at the brand",
    example: { whose: 'address', limit: 20, resetAtMs: EXAMPLES_AT_MS + 7_200_000 },
    passesAtMs: ({ resetAtMs }) => resetAtMs,
    says: ({ whose, limit }) => ({
      error: 'Too many open checkouts',
      message: `${
        whose === 'address' ? 'One address' : 'One brand'
      } may have ${limit} checkouts open that were begun without the brand's key. Pay one, wait until one is over, or send the brand's key.`,
      details: { reason: 'too_many_open_checkouts', limit },
    }),
  },
  processor_event_refused: {
    status: 400,
    when: "a processor's event is not signed with the endpoint's secret over the bytes that came, is older or newer than 300 s, or is of another mode",
    example: {
      problem: 'timestamp_too_old',
      message: 'The event was signed 960 s ago; at most 300 s are taken',
      fix: 'Let the processor send the event again, which signs it anew, and check the clocks of both machines',
    },
    says: ({ problem, message, fix }) => ({
      error: 'Event refused',
      message: `${message}.`,
      details: { reason: problem, fix },
    }),
  },
  session_not_found: refused(
    'no session with this id was made by create-checkout',
    failure('session_not_found', 'Session not found'),
  ),
  payment_not_completed: {
    status: 400,
    when: 'the session is not paid, or its payment went back',
    example: { status: 'unpaid' },
    says: ({ status }) => ({
      message: `Payment not completed: ${status}`,
      details: { reason: 'payment_not_completed', status },
    }),
  },
  invalid_wallet_address: refused(
    "the session's `wallet` is missing, not an address, or another than was planned",
    failure('invalid_wallet_address', 'Invalid wallet address'),
  ),
  invalid_amount: refused(
    "one of the session's amounts is missing or spelt oddly, or what was paid is not what was planned: amount, currency, mode",
    failure('invalid_amount', 'Invalid amount'),
  ),
  amount_mismatch: refused(
    "the session's `usd_amount` * 1000 is not its `rwt_amount`",
    failure('amount_mismatch', 'Amount mismatch'),
  ),
  processor_unavailable: {
    status: 500,
    when: 'the payment processor cannot be reached; a later try may pass',
    retryAfterSeconds: 2,
    says: {
      error: 'Payment processor unavailable',
      message: 'The payment processor gave no usable answer; nothing is lost. Send the same request again.',
      details: { reason: 'processor_unavailable' },
    },
  },
  mint_failed: {
    status: 500,
    when: 'the chain refused the mint',
    example: { sessionId, reason: 'reverted' },
    says: ({ reason, sessionId }) => ({
      error: 'Blockchain transaction failed',
      message: 'The payment is recorded; its RWT could not be minted on chain. An operator has to look.',
      details: { reason, sessionId },
    }),
  },
  mint_pending: {
    status: 500,
    when: 'the chain is late; the mint is recorded and comes once',
    example: { sessionId },
    retryAfterSeconds: 2,
    says: ({ sessionId }) => ({
      error: 'Blockchain transaction delayed',
      message: 'The mint is recorded and comes once; the chain has not taken it yet. Ask again.',
      details: { reason: 'mint_pending', sessionId },
    }),
  },
};
