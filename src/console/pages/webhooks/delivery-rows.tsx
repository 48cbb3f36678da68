/** Deliveries of webhooks as rows of a table, on every page that shows what the service has told. */
import type { Child } from 'hono/jsx';
import { listDeliveries, type WebhookDelivery } from '../../../contract/control/webhooks.ts';
import { answerOf, type MoreRows, pageAddress, type Visit } from '../../page.ts';
import { Moment } from '../../parts/moment.tsx';
import { Table } from '../../parts/table.tsx';
import { Id, State, Text } from '../../parts/text.tsx';

/** As many as a list begins with. */
const ABOUT_MAX = 50;

/** What brands were told about these rewards, redemptions or sessions. */
export const deliveriesAbout = async (
  visit: Visit,
  subjects: readonly string[],
): Promise<readonly WebhookDelivery[]> => {
  if (subjects.length === 0) return [];
  const query = { subject: subjects.join(','), limit: ABOUT_MAX };
  return (await answerOf(visit, listDeliveries, { query })).deliveries;
};

const STATE_IS = { waiting: 'waiting', held: 'waiting', failed: 'bad', delivered: 'good' } as const;

export const DeliveryState = ({ of }: { of: WebhookDelivery['state'] }): Child => (
  <State is={STATE_IS[of]}>{of}</State>
);

export const webhookAddress = (eventId: string) => pageAddress(`/webhooks/${encodeURIComponent(eventId)}`);

export const Deliveries = (props: {
  of: readonly WebhookDelivery[];
  nowMs: number;
  empty: string;
  more?: MoreRows | undefined;
}): Child => (
  <Table
    label="Deliveries"
    columns={['when', 'event', 'about', 'where to', 'state', { name: 'attempts', isNumber: true }, 'next']}
    rows={props.of.map((one) => [
      <Moment at={one.createdAt} nowMs={props.nowMs} />,
      <>
        {one.type} <Id of={one.eventId} href={webhookAddress(one.eventId)} />
      </>,
      <Id of={one.subject} />,
      <Text of={one.url ?? 'an endpoint that is gone'} />,
      <DeliveryState of={one.state} />,
      one.attempts,
      one.nextAttemptAt === null ? '' : <Moment at={one.nextAttemptAt} nowMs={props.nowMs} />,
    ])}
    empty={props.empty}
    more={props.more}
  />
);
