/** What the emulator's own receiver got, newest first, and whether the signatures are right. */
import type { Child } from 'hono/jsx';
import { type InboxDelivery, listInbox } from '../../../contract/control/inbox.ts';
import { answerOf, type ConsolePage, pageAddress } from '../../page.ts';
import { Command } from '../../parts/action.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Section, Table } from '../../parts/table.tsx';
import { Body, Id, State, Text } from '../../parts/text.tsx';
import { webhookAddress } from './delivery-rows.tsx';

const SHOWN = 50;
const SHOWN_MAX = 500;
/** Everybody may post up to 64 KB; a page of 500 has to stay one that a browser can show. */
const BODY_SHOWN_MAX = 2_000;

export const inbox: ConsolePage = {
  path: '/webhooks/inbox',
  async view(visit) {
    const limit = Math.min(SHOWN_MAX, Number(visit.query.limit) || SHOWN);
    const { deliveries } = await answerOf(visit, listInbox, { query: { limit } });
    const isFull = deliveries.length === limit && limit < SHOWN_MAX;
    return {
      title: 'Inbox of the emulator’s own receiver',
      body: (
        <>
          <Command text="rewards webhooks inbox" />
          <Section title="Newest first" live="inbox">
            <Table
              label="Inbox"
              columns={['when', 'event', 'signatures', 'what came']}
              rows={deliveries.map((one) => [
                <Moment at={one.receivedAt} nowMs={visit.nowMs} />,
                <EventOf of={one} />,
                <Signature of={one.signature} />,
                <Came of={one} />,
              ])}
              empty="Nothing came yet."
              more={
                isFull ? { href: pageAddress('/webhooks/inbox', { limit: String(SHOWN_MAX) }) } : undefined
              }
            />
          </Section>
        </>
      ),
    };
  },
};

/** A stranger's message names what it likes, so only one that verifies leads to the log. */
function EventOf({ of: { body, headers, signature } }: { of: InboxDelivery }): Child {
  const type = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined;
  const id = headers['webhook-id'];
  return (
    <>
      <Text of={typeof type === 'string' ? type : 'no event'} />{' '}
      {id !== undefined && (
        <Id of={id} {...(signature?.standard === 'valid' && { href: webhookAddress(id) })} />
      )}
    </>
  );
}

const Signature = ({ of }: { of: InboxDelivery['signature'] }): Child => {
  if (of === null) return <State is="waiting">no endpoint has this address</State>;
  if (of.valid) return <State is="good">right</State>;
  const { bare, timestamped, standard } = of;
  const forms = { bare, timestamped, standard };
  const wrong = Object.entries(forms).filter(([, verdict]) => verdict !== 'valid');
  return <State is="bad">{wrong.map(([form, verdict]) => `${form} ${verdict}`).join(', ')}</State>;
};

const Came = ({ of: { id, headers, rawBody } }: { of: InboxDelivery }): Child => (
  <details>
    <summary>{rawBody.length} characters</summary>
    <Body
      of={rawBody.length > BODY_SHOWN_MAX ? rawBody.slice(0, BODY_SHOWN_MAX) : rawBody}
      label={`Body of ${id}`}
    />
    {rawBody.length > BODY_SHOWN_MAX && (
      <p class="quiet">
        Only its first {BODY_SHOWN_MAX} characters; <Command text="rewards webhooks inbox -o json" /> has all.
      </p>
    )}
    <Facts of={Object.entries(headers).map(([name, value]) => [name, <Text of={value} />])} />
  </details>
);
