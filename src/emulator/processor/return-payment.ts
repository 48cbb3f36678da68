/** Money that goes back: refunds by the merchant, disputes by the buyer's bank. */

import {
  type Charge,
  type Dispute,
  newDispute,
  newRefund,
  type PaymentIntent,
  type Refund,
} from './objects/payment-objects.ts';
import { recordEvent, type Telling } from './record-event.ts';
import type { Change, Entry } from './records.ts';
import { invalidRequest } from './stripe-error.ts';

export const refundReasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export const disputeReasons = [
  ...['fraudulent', 'product_not_received', 'product_unacceptable', 'duplicate', 'unrecognized'],
  ...['credit_not_processed', 'general'],
] as const;

export interface RefundWish {
  /** In the currency's smallest unit; all that is left where it is absent. */
  amount?: number | undefined;
  reason?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** Gives back a payment, or a part of it. */
export async function refundCharge(
  change: Change,
  entry: Entry<Charge>,
  wish: RefundWish,
  telling: Telling = {},
): Promise<Refund> {
  const { body: charge } = entry;
  if (charge.status !== 'succeeded') {
    throw invalidRequest(`Charge ${charge.id} has not been paid, so it cannot be refunded`, {
      param: 'charge',
    });
  }
  if (charge.disputed) {
    throw invalidRequest(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    });
  }
  const left = charge.amount - charge.amount_refunded;
  if (left === 0) {
    throw invalidRequest(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    });
  }
  const amount = wish.amount ?? left;
  if (amount > left) {
    throw invalidRequest(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
      param: 'amount',
    });
  }
  const refund = newRefund({
    id: change.newId('re_3'),
    created: change.now,
    charge,
    amount,
    reason: wish.reason ?? null,
    metadata: wish.metadata ?? {},
  });
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  await change.add({ body: refund, about: entry.about });
  await change.store(entry);
  await recordEvent(change, 'charge.refunded', charge, telling);
  return refund;
}

/** The buyer's bank asks the money back. */
export async function disputeCharge(
  change: Change,
  entry: Entry<Charge>,
  { reason = 'fraudulent' }: { reason?: string | undefined },
  telling: Telling = {},
): Promise<Dispute> {
  const { body: charge } = entry;
  if (charge.status !== 'succeeded' || charge.refunded) {
    throw invalidRequest(`Charge ${charge.id} holds no money that could be asked back`, { param: 'charge' });
  }
  if (charge.disputed) {
    throw invalidRequest(`Charge ${charge.id} is disputed already`, { code: 'charge_disputed' });
  }
  const dispute = newDispute({ id: change.newId('du_1'), created: change.now, charge, reason });
  charge.disputed = true;
  await change.add({ body: dispute, about: entry.about });
  await change.store(entry);
  await recordEvent(change, 'charge.dispute.created', dispute, telling);
  return dispute;
}

/** The charge of a payment that holds its money. */
export async function chargeOfPayment(change: Change, intentId: string): Promise<Entry<Charge>> {
  const { body: intent } = await change.need<PaymentIntent>('payment_intent', intentId, 'payment_intent');
  if (typeof intent.latest_charge !== 'string' || intent.status !== 'succeeded') {
    throw invalidRequest(`This PaymentIntent (${intentId}) does not have a successful charge to refund.`, {
      code: 'payment_intent_unexpected_state',
      param: 'payment_intent',
    });
  }
  return change.need<Charge>('charge', intent.latest_charge, 'charge');
}
