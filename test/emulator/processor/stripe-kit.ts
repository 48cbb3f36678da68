/** The official package of Stripe, pointed at an emulator. */
import { Stripe } from 'stripe';
import type { Ready } from '../../../src/stack/ready.ts';

/** As any program is pointed at it: host, port and protocol, and nothing else. */
export function stripeOf({ processor }: Pick<Ready, 'processor'>, key = processor.secretKey): Stripe {
  const { hostname: host, port } = new URL(processor.url);
  return new Stripe(key, { host, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
}

let orders = 0;

/** What a shop asks for: 5 dollars, for one thing. */
export const purchase = (change: Partial<Stripe.Checkout.SessionCreateParams> = {}) => ({
  mode: 'payment' as const,
  client_reference_id: `order-${process.pid}-${++orders}`,
  customer_email: 'alice@demo.example',
  line_items: [
    { quantity: 1, price_data: { currency: 'usd', unit_amount: 500, product_data: { name: '5,000 RWT' } } },
  ],
  metadata: { wallet: '0x00000000000000000000000000000000000000b1', usd_amount: '5', rwt_amount: '5000' },
  payment_intent_data: { metadata: { rwt_amount: '5000' } },
  success_url: 'https://demo.example/thanks?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'https://demo.example/cart',
  ...change,
});

/** The error with which a call of the package ends. */
export async function stripeProblem(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error('the call was answered, and should have been refused');
}
