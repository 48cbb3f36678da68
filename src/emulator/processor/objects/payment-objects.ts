/** Payment intents, charges, refunds and disputes as the processor's API shows them. Times are seconds, amounts the currency's smallest unit. */
import type Stripe from 'stripe';
import { cardOf, type TestCard } from './test-cards.ts';

export type PaymentIntent = Stripe.PaymentIntent;
export type Charge = Stripe.Charge;
export type Refund = Stripe.Refund;
export type Dispute = Stripe.Dispute;

/** A payment that has been begun. */
export const newPaymentIntent = (of: {
  id: string;
  created: number;
  amount: number;
  currency: string;
  clientSecret: string;
  description: string | null;
  metadata: Record<string, string>;
  paymentMethodTypes: string[];
}): PaymentIntent => ({
  id: of.id,
  object: 'payment_intent',
  allowed_payment_method_types: null,
  amount: of.amount,
  amount_capturable: 0,
  amount_details: { tip: {} },
  amount_received: 0,
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: null,
  canceled_at: null,
  cancellation_reason: null,
  capture_method: 'automatic_async',
  client_secret: of.clientSecret,
  confirmation_method: 'automatic',
  created: of.created,
  currency: of.currency,
  customer: null,
  customer_account: null,
  description: of.description,
  excluded_payment_method_types: null,
  last_payment_error: null,
  latest_charge: null,
  livemode: false,
  managed_payments: null,
  metadata: of.metadata,
  next_action: null,
  on_behalf_of: null,
  payment_method: null,
  payment_method_configuration_details: null,
  payment_method_options: {},
  payment_method_types: of.paymentMethodTypes,
  payment_record: null,
  processing: null,
  receipt_email: null,
  review: null,
  setup_future_usage: null,
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  status: 'requires_payment_method',
  transfer_data: null,
  transfer_group: null,
});

/** An attempt to take the money: paid, on its way (`pending`), or declined for a reason. */
export const newCharge = (of: {
  id: string;
  created: number;
  intent: PaymentIntent;
  paymentMethodId: string;
  email: string | null;
  card: TestCard;
  outcome: 'succeeded' | 'pending' | { declined: string; message: string };
}): Charge => {
  const declined = typeof of.outcome === 'object' ? of.outcome : null;
  const paid = of.outcome === 'succeeded';
  return {
    id: of.id,
    object: 'charge',
    amount: of.intent.amount,
    amount_captured: paid ? of.intent.amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: { address: null, email: of.email, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: 'REWARDS EMULATOR',
    captured: paid,
    created: of.created,
    currency: of.intent.currency,
    customer: null,
    description: of.intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: declined ? 'card_declined' : null,
    failure_message: declined?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: of.intent.metadata,
    on_behalf_of: null,
    outcome: {
      advice_code: declined ? 'try_again_later' : null,
      network_advice_code: null,
      network_decline_code: declined?.declined ?? null,
      network_status: declined ? 'declined_by_network' : 'approved_by_network',
      reason: declined?.declined ?? null,
      risk_level: 'normal',
      risk_score: 12,
      seller_message: declined ? 'The bank declined the payment.' : 'Payment complete.',
      type: declined ? 'issuer_declined' : 'authorized',
    },
    paid,
    payment_intent: of.intent.id,
    payment_method: of.paymentMethodId,
    payment_method_details: cardOf(of.card),
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: declined ? 'failed' : of.outcome === 'pending' ? 'pending' : 'succeeded',
    transfer_data: null,
    transfer_group: null,
  };
};

export const newRefund = (of: {
  id: string;
  created: number;
  charge: Charge;
  amount: number;
  reason: string | null;
  metadata: Record<string, string>;
}): Refund => ({
  id: of.id,
  object: 'refund',
  amount: of.amount,
  balance_transaction: null,
  charge: of.charge.id,
  created: of.created,
  currency: of.charge.currency,
  customer: null,
  customer_account: null,
  metadata: of.metadata,
  payment_intent: of.charge.payment_intent,
  payment_method: of.charge.payment_method,
  reason: of.reason,
  receipt_number: null,
  source_transfer_reversal: null,
  status: 'succeeded',
  transfer_reversal: null,
});

/** How long a merchant has to answer a dispute. */
const EVIDENCE_DUE_SECONDS = 7 * 86_400;

export const newDispute = (of: { id: string; created: number; charge: Charge; reason: string }): Dispute => ({
  id: of.id,
  object: 'dispute',
  amount: of.charge.amount,
  balance_transactions: [],
  charge: of.charge.id,
  created: of.created,
  currency: of.charge.currency,
  enhanced_eligibility_types: [],
  // Nothing is submitted here: the merchant's side of a dispute is not emulated.
  evidence: {} as Dispute['evidence'],
  evidence_details: {
    due_by: of.created + EVIDENCE_DUE_SECONDS,
    enhanced_eligibility: {},
    has_evidence: false,
    past_due: false,
    submission_count: 0,
    submission_method: 'manual',
  },
  intended_submission_method: null,
  is_charge_refundable: false,
  livemode: false,
  metadata: {},
  payment_intent: of.charge.payment_intent,
  reason: of.reason,
  status: 'needs_response',
});
