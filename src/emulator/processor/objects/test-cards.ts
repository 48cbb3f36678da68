/** The ways to pay that the emulated processor knows: Stripe's test cards, and a debit that arrives later. */
import type Stripe from 'stripe';

export interface TestCard {
  /** The value that the page's form and the control API send. */
  choice: string;
  label: string;
  /** What becomes of the payment. */
  effect: string;
  outcome: 'paid' | 'later' | { declined: string };
  last4: string;
}

/** In the order of the page. */
export const testCards: readonly TestCard[] = [
  {
    choice: 'card',
    label: 'Card 4242 4242 4242 4242',
    last4: '4242',
    effect: 'is paid at once',
    outcome: 'paid',
  },
  {
    choice: 'card_declined',
    label: 'Card 4000 0000 0000 0002',
    last4: '0002',
    effect: 'is declined',
    outcome: { declined: 'generic_decline' },
  },
  {
    choice: 'insufficient_funds',
    label: 'Card 4000 0000 0000 9995',
    last4: '9995',
    effect: 'is declined for insufficient funds',
    outcome: { declined: 'insufficient_funds' },
  },
  {
    choice: 'later',
    label: 'Bank debit',
    last4: '6789',
    effect: 'is paid a minute later',
    outcome: 'later',
  },
];

/** What buyer and API are told of a declined card, by its decline code. */
export const declineMessages: Record<string, string> = {
  generic_decline: 'Your card was declined.',
  insufficient_funds: 'Your card has insufficient funds.',
  lost_card: 'Your card was declined.',
  stolen_card: 'Your card was declined.',
  expired_card: 'Your card has expired.',
  incorrect_cvc: "Your card's security code is incorrect.",
  processing_error: 'An error occurred while processing your card. Try again in a little bit.',
};

export const declineMessage = (code: string): string => declineMessages[code] ?? 'Your card was declined.';

/** Far enough ahead for a clock that is moved by years. */
const CARD_EXPIRES = 2050;

export const cardOf = ({ outcome, last4 }: TestCard): Stripe.Charge['payment_method_details'] =>
  outcome === 'later'
    ? ({
        type: 'us_bank_account',
        us_bank_account: { bank_name: 'STRIPE TEST BANK', last4 },
      } as Stripe.Charge['payment_method_details'])
    : ({
        type: 'card',
        card: {
          brand: 'visa',
          country: 'US',
          exp_month: 12,
          exp_year: CARD_EXPIRES,
          funding: 'credit',
          last4,
          network: 'visa',
        },
      } as Stripe.Charge['payment_method_details']);
