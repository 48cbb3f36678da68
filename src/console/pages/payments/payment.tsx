/** One checkout session: how it stands, what it bought, what the processor told about it, and what can happen to it. */
import type { Child } from 'hono/jsx';
import { mintOfSession, type SessionMint } from '../../../contract/control/mints.ts';
import {
  type CheckoutSession,
  listProcessorEvents,
  type ProcessorDelivery,
  type ProcessorEvents,
  resendProcessorEvent,
  showSession,
} from '../../../contract/control/processor.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { shellLine } from '../../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress } from '../../page.ts';
import { Action, Command } from '../../parts/action.tsx';
import { ExactMoment, Moment } from '../../parts/moment.tsx';
import { Facts, Section, Table } from '../../parts/table.tsx';
import { Id, State, Text } from '../../parts/text.tsx';
import { transactionAddress } from '../chain.tsx';
import { Deliveries, deliveriesAbout } from '../webhooks/delivery-rows.tsx';
import { PaymentSteps, paymentAddress } from './payment-steps.tsx';
import { money, PaymentState } from './payments.tsx';

/** More than happens to a payment that a person plays through. */
const EVENTS_MAX = 100;

export const payment: ConsolePage = {
  path: '/payments/:id',
  async view(visit) {
    const session = await answerOf(visit, showSession, { path: { session: visit.params.id ?? '' } });
    const [mint, { events: newestFirst }, told] = await Promise.all([
      answerOf(visit, mintOfSession, { path: { session: session.id } }),
      answerOf(visit, listProcessorEvents, { query: { session: session.id, limit: EVENTS_MAX } }),
      deliveriesAbout(visit, [session.id]),
    ]);
    const events = newestFirst.toReversed();
    return {
      title: `Payment of ${money(session.amount, session.currency)}`,
      body: (
        <>
          <Section title="How it stands" live="session">
            <SessionFacts of={session} mint={mint} nowMs={visit.nowMs} />
          </Section>
          <Section title="What can happen" live="steps">
            <PaymentSteps of={session} />
          </Section>
          <Section title="What happened" live="happened">
            <Happened of={session} events={events} mint={mint} nowMs={visit.nowMs} />
          </Section>
          <Section title="What the processor told" live="events">
            <Events of={events} session={session.id} nowMs={visit.nowMs} />
          </Section>
          <Section title="What the brand was told" live="webhooks">
            <Deliveries of={told} nowMs={visit.nowMs} empty="Nothing yet: a brand is told of the mint." />
          </Section>
          <Section title="The same in a shell">
            <Command text={shellLine`rewards checkout show ${session.id}`} />
          </Section>
        </>
      ),
    };
  },
};

const SessionFacts = (props: { of: CheckoutSession; mint: SessionMint; nowMs: number }): Child => {
  const { of, mint, nowMs } = props;
  return (
    <Facts
      of={[
        ['state', <PaymentState of={of} />],
        ['RWT', <Minted of={mint} />],
        [
          'buyer',
          of.email === null ? (
            '–'
          ) : (
            <a href={pageAddress(`/users/${encodeURIComponent(of.email)}`)}>
              <Text of={of.email} />
            </a>
          ),
        ],
        ['begun', <ExactMoment at={of.createdAt} nowMs={nowMs} />],
        ...(of.status === 'open'
          ? [['ends', <ExactMoment at={of.expiresAt} nowMs={nowMs} />] satisfies [string, Child]]
          : []),
        ...(of.url === null
          ? []
          : [['page', <a href={of.url}>where it is paid</a>] satisfies [string, Child]]),
        ...Object.entries(of.metadata).map(([name, value]): [string, Child] => [name, <Text of={value} />]),
        ['session', <code>{of.id}</code>],
        ['checkout', <Text of={of.checkoutId} />],
        ['payment', <Text of={of.paymentIntentId} />],
      ]}
    />
  );
};

const Minted = ({ of: { state, failure, transactionHash } }: { of: SessionMint }): Child => (
  <>
    <State is={state === 'minted' ? 'good' : state === 'given_up' ? 'bad' : 'waiting'}>
      {state === 'none' ? 'nothing was minted yet' : state.replace('_', ' ')}
    </State>
    {failure !== null && <Text of={failure} />}{' '}
    {transactionHash !== null && <Id of={transactionHash} href={transactionAddress(transactionHash)} />}
  </>
);

/** The states that it went through, by the processor's events; the ledger's mint stands last. */
const Happened = (props: {
  of: CheckoutSession;
  events: ProcessorEvents['events'];
  mint: SessionMint;
  nowMs: number;
}): Child => (
  <ol>
    <li>
      begun <ExactMoment at={props.of.createdAt} nowMs={props.nowMs} />
    </li>
    {props.events.map(({ type, createdAt }) => (
      <li>
        {WORDS[type] ?? type} <ExactMoment at={createdAt} nowMs={props.nowMs} />
      </li>
    ))}
    {props.mint.transactionHash !== null && (
      <li>
        RWT sent in transaction{' '}
        <Id of={props.mint.transactionHash} href={transactionAddress(props.mint.transactionHash)} />
      </li>
    )}
  </ol>
);

const WORDS: Record<string, string> = {
  'payment_intent.succeeded': 'paid',
  'checkout.session.completed': 'completed by the buyer',
  'checkout.session.async_payment_succeeded': 'the money arrived',
  'checkout.session.async_payment_failed': 'the money did not arrive',
  'checkout.session.expired': 'expired',
  'payment_intent.payment_failed': 'a card was declined',
  'charge.refunded': 'given back, or a part of it',
  'charge.dispute.created': 'disputed by the buyer’s bank',
};

const Events = (props: { of: ProcessorEvents['events']; session: string; nowMs: number }): Child => {
  const { of, session, nowMs } = props;
  return (
    <Table
      label="Events"
      columns={['when', 'event', 'id', 'deliveries', 'again']}
      rows={of.map((event) => [
        <Moment at={event.createdAt} nowMs={nowMs} />,
        event.type,
        <Id of={event.id} />,
        event.deliveries.length === 0
          ? 'told to nobody'
          : event.deliveries.map((delivery) => <Told of={delivery} nowMs={nowMs} />),
        <Action
          endpoint={resendProcessorEvent}
          path={{ event: event.id }}
          label="Tell again"
          then={paymentAddress(session)}
          command={shellLine`rewards webhooks replay ${event.id}`}
        />,
      ])}
      empty="Nothing yet."
    />
  );
};

/** One delivery with each attempt, and when it is tried next. */
const Told = ({ of, nowMs }: { of: ProcessorDelivery; nowMs: number }): Child => (
  <details>
    <summary>
      <State is={of.state === 'delivered' ? 'good' : of.state === 'failed' ? 'bad' : 'waiting'}>
        {of.state}
      </State>
      {of.nextAt !== null && (
        <>
          , tried <Moment at={of.nextAt} nowMs={nowMs} />
        </>
      )}
    </summary>
    <p>
      endpoint <Id of={of.endpointId} />
    </p>
    <ol>
      {of.attempts.map(({ at, status, answer, durationMs }) => (
        <li>
          {status ?? 'no answer'} <Moment at={at} nowMs={nowMs} /> after {formatDuration(durationMs)}:{' '}
          <Text of={answer} />
        </li>
      ))}
    </ol>
  </details>
);
