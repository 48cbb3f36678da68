/** What can happen to a checkout session: the buyer, the bank and the merchant, by the emulated processor. */
import type { Child } from 'hono/jsx';
import {
  type CheckoutSession,
  declineSession,
  disputeSession,
  expireSession,
  paySession,
  refundSession,
} from '../../../contract/control/processor.ts';
import { shellLine } from '../../../lib/text/shell-quoted.ts';
import { pageAddress } from '../../page.ts';
import { Action, Field } from '../../parts/action.tsx';

/** Codes that the processor has words for; it takes every other as well. */
const DECLINE_CODES = [
  'generic_decline',
  'insufficient_funds',
  'lost_card',
  'stolen_card',
  'expired_card',
  'incorrect_cvc',
  'processing_error',
] as const;
const REFUND_REASONS = ['requested_by_customer', 'duplicate', 'fraudulent'] as const;

export const paymentAddress = (session: string) => pageAddress(`/payments/${encodeURIComponent(session)}`);

/** Those that its state allows; the processor refuses the others. */
export function PaymentSteps({ of }: { of: CheckoutSession }): Child {
  const { id, status, paymentStatus, refunded, amount, disputed } = of;
  const path = { session: id };
  if (status === 'open') return <OpenSteps id={id} />;
  if (status !== 'complete' || paymentStatus === 'unpaid' || refunded === amount) {
    return <p class="quiet">Nothing more happens to it.</p>;
  }
  return (
    <>
      <Action
        endpoint={refundSession}
        path={path}
        then={paymentAddress(id)}
        label="Give back"
        command={shellLine`rewards checkout refund ${id} --amount {amount} --reason {reason}`}
      >
        <Field
          name="amount"
          as="number"
          label="cents"
          value={String(amount - refunded)}
          help="nothing: all that is left"
        />
        <Field name="reason" label="why" value={REFUND_REASONS[0]} options={REFUND_REASONS} />
      </Action>
      {!disputed && (
        <Action
          endpoint={disputeSession}
          path={path}
          then={paymentAddress(id)}
          label="Dispute"
          command={shellLine`rewards checkout dispute ${id} --reason {reason}`}
        >
          <Field name="reason" label="why the bank asks it back" value="fraudulent" required />
        </Action>
      )}
    </>
  );
}

const OpenSteps = ({ id }: { id: string }): Child => {
  const path = { session: id };
  return (
    <>
      <Action
        endpoint={paySession}
        path={path}
        then={paymentAddress(id)}
        label="Pay"
        command={shellLine`rewards checkout pay ${id}`}
      />
      <Action
        endpoint={paySession}
        path={path}
        then={paymentAddress(id)}
        body={{ later: true }}
        label="Pay, and it arrives later"
        command={shellLine`rewards checkout pay ${id} --async --delay {delay}`}
      >
        <Field name="delay" label="how much later" value="1m" required />
      </Action>
      <Action
        endpoint={paySession}
        path={path}
        then={paymentAddress(id)}
        body={{ later: true }}
        label="Pay, and it fails later"
        command={shellLine`rewards checkout pay ${id} --delay {delay} --decline {fails}`}
      >
        <Field name="delay" label="how much later" value="1m" required />
        <Field name="fails" label="why it fails" value={DECLINE_CODES[1]} options={DECLINE_CODES} />
      </Action>
      <Action
        endpoint={declineSession}
        path={path}
        then={paymentAddress(id)}
        label="Decline"
        command={shellLine`rewards checkout decline ${id} --code {code}`}
      >
        <Field
          name="code"
          label="what is wrong with the card"
          value={DECLINE_CODES[0]}
          options={DECLINE_CODES}
        />
      </Action>
      <Action
        endpoint={expireSession}
        path={path}
        then={paymentAddress(id)}
        label="Let it expire"
        command={shellLine`rewards checkout expire ${id}`}
      />
    </>
  );
};
