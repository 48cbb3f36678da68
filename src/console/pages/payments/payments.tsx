/** Checkout sessions of the emulated payment processor, newest first. */
import type { Child } from 'hono/jsx';
import { beginCheckout, type CheckoutSession, listSessions } from '../../../contract/control/processor.ts';
import { shellOptions } from '../../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, type MoreRows, moreRows, pageAddress, rowsAsked } from '../../page.ts';
import { Action, Command, Field, Filter } from '../../parts/action.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Section, Table } from '../../parts/table.tsx';
import { Id, State, Text } from '../../parts/text.tsx';
import { paymentAddress } from './payment-steps.tsx';

const STATES = ['open', 'complete', 'expired'] as const;
const SIZE = { first: 50, most: 500 };

export const payments: ConsolePage = {
  path: '/payments',
  nav: 'Payments',
  async view(visit) {
    const { query, nowMs } = visit;
    const status = STATES.find((one) => one === query.status);
    const limit = rowsAsked(query.limit, SIZE);
    const user = query.user || undefined;
    const { sessions } = await answerOf(visit, listSessions, { query: { status, user, limit } });
    const list = { count: sessions.length, limit, most: SIZE.most };
    return {
      title: 'Payments',
      body: (
        <>
          <Section title="Begin one">
            <Action
              endpoint={beginCheckout}
              label="Begin a payment"
              command="rewards checkout create --amount {amount} --user {user}"
              then={pageAddress('/payments/{id}')}
            >
              <Field name="amount" as="number" label="cents" placeholder="500" required />
              <Field name="user" label="user" placeholder="you@demo.example" required />
            </Action>
          </Section>
          <Filter label="Which sessions">
            <Field name="status" label="state" value={query.status ?? ''} options={['', ...STATES]} />
            <Field name="user" label="buyer" value={query.user} />
          </Filter>
          <Command text={`rewards checkout list${shellOptions({ status, user })}`} />
          <Section title="Newest first" live="sessions">
            <Sessions
              of={sessions}
              nowMs={nowMs}
              more={moreRows(list, {
                href: (most) => pageAddress('/payments', { status, user, limit: most }),
                others: 'The filter finds older ones, by buyer and by state.',
              })}
            />
          </Section>
        </>
      ),
    };
  },
};

const Sessions = (props: {
  of: readonly CheckoutSession[];
  nowMs: number;
  more: MoreRows | undefined;
}): Child => (
  <Table
    label="Sessions"
    columns={['when', 'session', { name: 'amount', isNumber: true }, 'state', 'buyer']}
    rows={props.of.map((session) => [
      <Moment at={session.createdAt} nowMs={props.nowMs} />,
      <Id of={session.id} href={paymentAddress(session.id)} />,
      money(session.amount, session.currency),
      <PaymentState of={session} />,
      session.email === null ? (
        '–'
      ) : (
        <a href={pageAddress('/payments', { user: session.email })}>
          <Text of={session.email} />
        </a>
      ),
    ])}
    empty="No payment yet."
    more={props.more}
  />
);

/** `5.00 usd`: the emulator's own sessions are in dollars. */
export const money = (amount: number, currency: string) => `${(amount / 100).toFixed(2)} ${currency}`;

/** What of it is done: paid, given back, disputed. */
export function PaymentState({ of }: { of: CheckoutSession }): Child {
  const { status, paymentStatus, refunded, amount, disputed } = of;
  const isPaid = paymentStatus !== 'unpaid';
  return (
    <>
      <State is={status === 'open' || !isPaid ? 'waiting' : 'good'}>
        {status === 'complete' ? (isPaid ? 'paid' : 'unpaid until it arrives') : status}
      </State>{' '}
      {refunded > 0 && (
        <State is="bad">{refunded === amount ? 'given back' : `${refunded} of ${amount} given back`}</State>
      )}
      {disputed && (
        <>
          {' '}
          <State is="bad">disputed</State>
        </>
      )}
    </>
  );
}
