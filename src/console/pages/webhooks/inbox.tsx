/** What the emulator's own receiver got, newest first, and whether the signatures are right. */
import type { Child } from 'hono/jsx';
import { type InboxDelivery, listInbox } from '../../../contract/control/inbox.ts';
import { counted } from '../../../lib/text/counted.ts';
import { answerOf, type ConsolePage, moreRows, pageAddress, rowsAsked } from '../../page.ts';
import { Command } from '../../parts/action.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Section, Table } from '../../parts/table.tsx';
import { Body, Id, State, Text } from '../../parts/text.tsx';
import { webhookAddress } from './delivery-rows.tsx';

/** Everybody may post up to 64 KB with headers of their own; the page has to stay one that a browser can show. */
const SIZE = { first: 50, most: 200 };
const BODY_SHOWN_MAX = 2_000;

export const inbox: ConsolePage = {
  path: '/webhooks/inbox',
  async view(visit) {
    const limit = rowsAsked(visit.query.limit, SIZE);
    const { deliveries } = await answerOf(visit, listInbox, { query: { limit } });
    const list = { count: deliveries.length, limit, most: SIZE.most };
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
              more={moreRows(list, {
                href: (most) => pageAddress('/webhooks/inbox', { limit: most }),
                others: '`rewards webhooks inbox --limit 500` prints older ones.',
              })}
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
    <summary>{counted(rawBody.length, 'character')}</summary>
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
