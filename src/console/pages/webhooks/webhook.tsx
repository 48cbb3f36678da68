/** One webhook: its body, each attempt, and its signatures taken apart as a verifier sees them. */
import type { Child } from 'hono/jsx';
import {
  type DeliveryDetail,
  replayDelivery,
  showDelivery,
  showSignature,
} from '../../../contract/control/webhooks.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { shellLine } from '../../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage } from '../../page.ts';
import { Action } from '../../parts/action.tsx';
import { ExactMoment, Moment } from '../../parts/moment.tsx';
import { Section, Table } from '../../parts/table.tsx';
import { Body, Id, State, Text } from '../../parts/text.tsx';
import { DeliveryState } from './delivery-rows.tsx';
import { endpointAddress } from './endpoint.tsx';
import { SignaturesOf } from './signatures.tsx';

export const webhook: ConsolePage = {
  path: '/webhooks/:id',
  async view(visit) {
    const path = { id: visit.params.id ?? '' };
    const { nowMs, query } = visit;
    const [event, signatures] = await Promise.all([
      answerOf(visit, showDelivery, { path }),
      answerOf(visit, showSignature, { path, query: { at: query.at || undefined } }),
    ]);
    return {
      title: event.deliveries[0]?.type ?? 'Webhook',
      body: (
        <>
          <p class="quiet">
            <code>{event.id}</code>
          </p>
          <Section title="Body">
            <Body of={event.body} label="Body" />
          </Section>
          <Section title="Deliveries" live="deliveries">
            {event.deliveries.map((one) => (
              <Delivery of={one} nowMs={nowMs} />
            ))}
          </Section>
          <Section title="Send it again">
            <p class="quiet">
              Under its id and with its body, to every endpoint that it went to and that is on.
            </p>
            <Action
              endpoint={replayDelivery}
              path={path}
              label="Replay"
              command={shellLine`rewards webhooks deliveries replay ${event.id}`}
            />
          </Section>
          <SignaturesOf of={signatures} at={query.at} isWhole={!visit.readOnly} />
        </>
      ),
    };
  },
};

const Delivery = ({ of, nowMs }: { of: DeliveryDetail['deliveries'][number]; nowMs: number }): Child => (
  <>
    <h3>
      {of.url === null ? 'an endpoint that is gone' : <Text of={of.url} />} <DeliveryState of={of.state} />
    </h3>
    <p>
      endpoint <Id of={of.endpointId} {...(of.url !== null && { href: endpointAddress(of.endpointId) })} />
      {of.nextAttemptAt !== null && (
        <>
          , tried again <Moment at={of.nextAttemptAt} nowMs={nowMs} />
        </>
      )}
    </p>
    <Table
      label={`Attempts at ${of.endpointId}`}
      columns={['at', 'status', 'answer', { name: 'took', isNumber: true }]}
      rows={of.log.map(({ at, status, why, answer, ms }) => [
        <ExactMoment at={at} nowMs={nowMs} />,
        <State is={status !== null && status < 300 ? 'good' : 'bad'}>{String(status ?? 'no answer')}</State>,
        <Text of={why ?? answer} />,
        formatDuration(ms),
      ])}
      empty="No attempt yet."
    />
  </>
);
