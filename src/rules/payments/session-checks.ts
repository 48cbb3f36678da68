/** Whether a processor's session pays for a mint, and for which (contract: payment-mint, Mint metadata). */
import { addressKey } from '../user-key.ts';
import { centsOfUsd, rwtForCents, rwtOfText } from './conversion.ts';

/** What is decided on: a session as the processor has it now. */
export interface SessionFacts {
  /** The processor's word: `paid`, `unpaid`, `no_payment_required`, or one that it adds some day. */
  paymentStatus: string;
  /** What the buyer pays in all, in the currency's smallest unit; null where the processor tells none. */
  amountTotal: number | null;
  /** ISO 4217 in lower case; null where the processor tells none. */
  currency: string | null;
  /** Whether real money was moved. */
  livemode: boolean;
  /** As the processor has it now: somebody may have changed what the service wrote. */
  metadata: Readonly<Record<string, string>>;
  /** What was given back of the payment, in the smallest unit. */
  refundedAmount: number;
  /** Whether the buyer's bank asks the payment back. */
  disputed: boolean;
}

/** What the ledger planned before the session existed. */
export interface PlannedPayment {
  /** Where the RWT goes; an address in any case. */
  wallet: string;
  amountCents: number;
  /** ISO 4217 in lower case. */
  currency: string;
  livemode: boolean;
  /** What the ledger has been told of refunds and disputes, which the session may not show yet. */
  refundedCents: number;
  disputed: boolean;
}

/** Why a session mints nothing; the contract's messages in the order of the checks. */
export type PaymentRefusal =
  /** The ledger has planned no such session. */
  | { code: 'session_not_found' }
  /** `status`: the processor's word, or what became of the payment: `refunded`, `disputed`. */
  | { code: 'payment_not_completed'; status: string }
  /** Missing, not an address, or another than was planned. */
  | { code: 'invalid_wallet_address' }
  /** An amount that is missing or spelt oddly, or not what was planned and paid: cents, currency, mode. */
  | { code: 'invalid_amount' }
  /** `usd_amount` * 1000 is not `rwt_amount`. */
  | { code: 'amount_mismatch' };

/** What a paid session mints. */
export interface PaidMint {
  usdCents: number;
  rwtAmount: number;
}

/** The mint that the session has paid for, or why it has none. */
export function checkSession(
  session: SessionFacts,
  planned: PlannedPayment,
): { mint: PaidMint } | { refusal: PaymentRefusal } {
  const { metadata } = session;
  const status = statusOf(session, planned);
  if (status !== 'paid') return refused({ code: 'payment_not_completed', status });
  const wallet = exactAddress(own(metadata, 'wallet'));
  if (wallet === undefined || wallet !== addressKey(planned.wallet))
    return refused({ code: 'invalid_wallet_address' });
  const usdCents = centsOfUsd(own(metadata, 'usd_amount'));
  const rwtAmount = rwtOfText(own(metadata, 'rwt_amount'));
  if (usdCents === undefined || rwtAmount === undefined) return refused({ code: 'invalid_amount' });
  if (rwtForCents(usdCents) !== rwtAmount) return refused({ code: 'amount_mismatch' });
  const fits =
    usdCents === planned.amountCents &&
    session.amountTotal === planned.amountCents &&
    session.currency === planned.currency &&
    session.livemode === planned.livemode;
  return fits ? { mint: { usdCents, rwtAmount } } : refused({ code: 'invalid_amount' });
}

const refused = (refusal: PaymentRefusal) => ({ refusal });

/** Money that went back, or that the bank asks back, buys nothing. */
function statusOf(session: SessionFacts, planned: PlannedPayment): string {
  if (session.paymentStatus !== 'paid') return session.paymentStatus;
  if (session.disputed || planned.disputed) return 'disputed';
  return session.refundedAmount > 0 || planned.refundedCents > 0 ? 'refunded' : 'paid';
}

/** An empty text counts as absent. */
const own = (metadata: SessionFacts['metadata'], key: string): string =>
  Object.hasOwn(metadata, key) ? String(metadata[key]) : '';

/** Blanks around an address are a sign that somebody else wrote it. */
const exactAddress = (text: string) => (text === text.trim() ? addressKey(text) : undefined);
