/** Where webhooks go and how those endpoints are, and what was delivered, newest first. */
import type { Child } from 'hono/jsx';
import {
  listDeliveries,
  listWebhookEndpoints,
  showWebhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointDetail,
} from '../../../contract/control/webhooks.ts';
import { shellOptions } from '../../../lib/text/shell-quoted.ts';
import { webhookTypes } from '../../../rules/webhook-body.ts';
import {
  answerOf,
  type ConsolePage,
  type MoreRows,
  moreRows,
  pageAddress,
  rowsAsked,
  type Visit,
} from '../../page.ts';
import { Command, Field, Filter } from '../../parts/action.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Section, Table } from '../../parts/table.tsx';
import { Id, Text } from '../../parts/text.tsx';
import { Deliveries } from './delivery-rows.tsx';
import { Backlog, endpointAddress, Health } from './endpoint.tsx';

const STATES = ['waiting', 'held', 'failed', 'delivered'] as const;
const SIZE = { first: 50, most: 500 };
/** First as many as a brand may have: the health of each is a question of its own. */
const ENDPOINTS_SIZE = { first: 10, most: 100 };

const among = <T extends string>(all: readonly T[], text: string | undefined) =>
  all.find((one) => one === text);

export const webhooks: ConsolePage = {
  path: '/webhooks',
  nav: 'Webhooks',
  async view(visit) {
    const { query, nowMs } = visit;
    const wanted = {
      brand: query.brand || undefined,
      endpoint: query.endpoint || undefined,
      subject: query.subject || undefined,
      state: among(STATES, query.state),
      type: among(webhookTypes, query.type),
    };
    const limit = rowsAsked(query.limit, SIZE);
    const [endpoints, { deliveries }] = await Promise.all([
      endpointsOf(visit, wanted.brand),
      answerOf(visit, listDeliveries, { query: { ...wanted, limit } }),
    ]);
    const list = { count: deliveries.length, limit, most: SIZE.most };
    const here = { ...wanted, endpoints: query.endpoints, limit: query.limit };
    return {
      title: 'Webhooks',
      body: (
        <>
          <Section title="Endpoints" live="endpoints">
            <Endpoints
              of={endpoints.shown}
              nowMs={nowMs}
              more={moreRows(endpoints.list, {
                href: (most) => pageAddress('/webhooks', { ...here, endpoints: most }),
                others: 'The filter by brand finds the others; `rewards webhooks endpoints list` lists all.',
              })}
            />
          </Section>
          <Filter label="Which deliveries">
            <Field name="state" label="state" value={query.state ?? ''} options={['', ...STATES]} />
            <Field name="type" label="event" value={query.type ?? ''} options={['', ...webhookTypes]} />
            <Field name="endpoint" label="endpoint" value={query.endpoint} placeholder="we_…" />
            <Field name="subject" label="about" value={query.subject} placeholder="id of a reward" />
            <Field name="brand" label="brand" value={query.brand} placeholder="id or domain" />
          </Filter>
          <Command text={`rewards webhooks deliveries list${shellOptions(wanted)}`} />
          <Section title="Deliveries, newest first" live="deliveries">
            <Deliveries
              of={deliveries}
              nowMs={nowMs}
              empty="Nothing was told yet."
              more={moreRows(list, {
                href: (most) => pageAddress('/webhooks', { ...here, limit: most }),
                others: 'The filter finds older ones.',
              })}
            />
          </Section>
          {!visit.readOnly && (
            <p>
              <a href={pageAddress('/webhooks/inbox')}>Inbox of the emulator’s own receiver</a>
            </p>
          )}
        </>
      ),
    };
  },
};

type Shown = { endpoint: WebhookEndpoint; latest: WebhookEndpointDetail['latest'] | undefined }[];

async function endpointsOf(visit: Visit, brand: string | undefined) {
  const limit = rowsAsked(visit.query.endpoints, ENDPOINTS_SIZE);
  const { endpoints, more } = await answerOf(visit, listWebhookEndpoints, { query: { brand, limit } });
  const shown = endpoints.map(async (endpoint) => {
    const { status, body } = await visit.call(showWebhookEndpoint, { path: { id: endpoint.id } });
    // It may have been removed meanwhile.
    return { endpoint, latest: status === 200 ? body.latest : undefined };
  });
  const list = { count: endpoints.length, limit: more ? limit : limit + 1, most: ENDPOINTS_SIZE.most };
  return { list, shown: await Promise.all(shown) };
}

const Endpoints = (props: { of: Shown; nowMs: number; more: MoreRows | undefined }): Child => (
  <Table
    label="Endpoints"
    columns={['where to', 'brand', 'types', 'health', 'last delivered', 'newest deliveries']}
    rows={props.of.map(({ endpoint, latest }) => [
      <>
        <Text of={endpoint.url} /> <Id of={endpoint.id} href={endpointAddress(endpoint.id)} />
      </>,
      <Id of={endpoint.brandId} href={pageAddress(`/brands/${encodeURIComponent(endpoint.brandId)}`)} />,
      endpoint.types.length === 0 ? 'all' : endpoint.types.join(', '),
      <Health of={endpoint} nowMs={props.nowMs} />,
      <Moment at={latest?.lastDeliveredAt} nowMs={props.nowMs} />,
      latest ? <Backlog of={latest} nowMs={props.nowMs} /> : 'it is gone',
    ])}
    empty="None. Add one: rewards webhooks endpoints add <url>"
    more={props.more}
  />
);
