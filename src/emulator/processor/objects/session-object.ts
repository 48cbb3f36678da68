/** Checkout sessions as the processor's API shows them. */
import type Stripe from 'stripe';

export type Session = Stripe.Checkout.Session;

/** What a session was created with and does not show. */
export interface SessionNotes {
  lines: SessionLine[];
  /** For the payment intent. */
  paymentMetadata: Record<string, string>;
  paymentDescription: string | null;
  /** How a delayed payment ends when it is due. */
  settles?: 'paid' | { declined: string };
  /** Whether what time does to the session is told to the webhook endpoints. */
  silent?: boolean;
}

export interface SessionLine {
  id: string;
  priceId: string;
  productId: string;
  name: string;
  description: string | null;
  /** Null unless it is a whole number. */
  unitAmount: number | null;
  /** Set unless it is a whole number. */
  unitAmountDecimal?: string;
  quantity: number;
  images?: string[];
  productMetadata?: Record<string, string>;
}

const DECIMAL_PLACES = 12;

/** What a line comes to: of parts of the smallest unit, a half and more count as one. */
export function amountOf({
  unitAmount,
  unitAmountDecimal = String(unitAmount ?? 0),
  quantity,
}: Pick<SessionLine, 'unitAmount' | 'unitAmountDecimal' | 'quantity'>): number {
  const [whole = '0', places = ''] = unitAmountDecimal.split('.');
  const scale = 10n ** BigInt(DECIMAL_PLACES);
  const exact = BigInt(whole + places.padEnd(DECIMAL_PLACES, '0')) * BigInt(quantity);
  return Number((exact + scale / 2n) / scale);
}

/** Of the lines, in the currency's smallest unit. */
export const totalOf = (lines: readonly SessionLine[]) =>
  lines.reduce((sum, line) => sum + amountOf(line), 0);

/** What every session of the emulator has alike: hosted, paid once, without customers, taxes, discounts or shipping. */
const WITHOUT_EXTRAS = {
  object: 'checkout.session',
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: {
    after_submit: null,
    shipping_address: null,
    submit: null,
    terms_of_service_acceptance: null,
  },
  customer: null,
  customer_account: null,
  discounts: [],
  integration_identifier: null,
  invoice: null,
  invoice_creation: {
    enabled: false,
    invoice_data: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: null,
      metadata: {},
      rendering_options: null,
    },
  },
  livemode: false,
  managed_payments: null,
  mode: 'payment',
  origin_context: null,
  payment_intent: null,
  payment_link: null,
  payment_method_collection: 'if_required',
  payment_method_configuration_details: null,
  payment_method_options: { card: { request_three_d_secure: 'automatic' } },
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  status: 'open',
  subscription: null,
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  ui_mode: 'hosted_page',
  url: null,
  wallet_options: null,
} satisfies Partial<Session>;

/** A session as it is created; times in seconds. */
export function newSession(of: {
  id: string;
  created: number;
  expiresAt: number;
  amount: number;
  currency: string;
  successUrl: string;
  cancelUrl: string | null;
  clientReferenceId: string | null;
  customerEmail: string | null;
  customerCreation: 'always' | 'if_required';
  locale: string | null;
  submitType: string | null;
  paymentMethodTypes: string[];
  metadata: Record<string, string>;
}): Session {
  return {
    ...WITHOUT_EXTRAS,
    id: of.id,
    amount_subtotal: of.amount,
    amount_total: of.amount,
    cancel_url: of.cancelUrl,
    client_reference_id: of.clientReferenceId,
    created: of.created,
    currency: of.currency,
    customer_creation: of.customerCreation,
    customer_details: of.customerEmail === null ? null : customerDetails(of.customerEmail),
    customer_email: of.customerEmail,
    expires_at: of.expiresAt,
    locale: of.locale,
    metadata: of.metadata,
    payment_method_types: of.paymentMethodTypes,
    payment_status: of.amount === 0 ? 'no_payment_required' : 'unpaid',
    submit_type: of.submitType,
    success_url: of.successUrl,
  };
}

export const customerDetails = (email: string): Session['customer_details'] => ({
  address: null,
  business_name: null,
  email,
  individual_name: null,
  name: null,
  phone: null,
  tax_exempt: 'none',
  tax_ids: null,
});

/** The lines of a session, as the API lists them. */
export const lineItems = (
  session: Session,
  { lines }: Pick<SessionNotes, 'lines'>,
  { wholeProducts = false } = {},
) =>
  lines.map((line) => ({
    id: line.id,
    object: 'item' as const,
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amountOf(line),
    amount_tax: 0,
    amount_total: amountOf(line),
    currency: session.currency,
    description: line.name,
    discounts: [],
    metadata: {},
    price: {
      id: line.priceId,
      object: 'price',
      active: false,
      billing_scheme: 'per_unit',
      created: session.created,
      currency: session.currency,
      custom_unit_amount: null,
      livemode: false,
      lookup_key: null,
      metadata: {},
      nickname: null,
      product: wholeProducts ? productOf(session, line) : line.productId,
      recurring: null,
      tax_behavior: 'unspecified',
      tiers_mode: null,
      transform_quantity: null,
      type: 'one_time',
      unit_amount: line.unitAmount,
      unit_amount_decimal: line.unitAmountDecimal ?? String(line.unitAmount),
    },
    quantity: line.quantity,
    taxes: [],
  }));

/** What a line sells; a product that was made for one price is never active. */
const productOf = ({ created }: Session, line: SessionLine): Stripe.Product => ({
  id: line.productId,
  object: 'product',
  active: false,
  created,
  default_price: null,
  description: line.description,
  images: line.images ?? [],
  livemode: false,
  marketing_features: [],
  metadata: line.productMetadata ?? {},
  name: line.name,
  package_dimensions: null,
  shippable: null,
  statement_descriptor: null,
  tax_code: null,
  tax_details: null,
  type: 'service',
  unit_label: null,
  updated: created,
  url: null,
});
