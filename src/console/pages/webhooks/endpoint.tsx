/** One endpoint: how it does, what it missed, and turning it on, off, and to a new secret. */
import type { Child } from 'hono/jsx';
import {
  listDeliveries,
  recoverWebhooks,
  rotateWebhookSecret,
  setWebhookEndpoint,
  showWebhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointDetail,
} from '../../../contract/control/webhooks.ts';
import { shellLine } from '../../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress } from '../../page.ts';
import { Action, Field } from '../../parts/action.tsx';
import { ExactMoment, Moment } from '../../parts/moment.tsx';
import { Facts, Section } from '../../parts/table.tsx';
import { Id, State } from '../../parts/text.tsx';
import { Deliveries } from './delivery-rows.tsx';

/** The list of all deliveries has more. */
const SHOWN = 20;

export const endpointAddress = (id: string) => pageAddress(`/webhooks/endpoints/${encodeURIComponent(id)}`);

export const webhookEndpoint: ConsolePage = {
  path: '/webhooks/endpoints/:id',
  async view(visit) {
    const id = visit.params.id ?? '';
    const { nowMs } = visit;
    const [endpoint, { deliveries }] = await Promise.all([
      answerOf(visit, showWebhookEndpoint, { path: { id } }),
      answerOf(visit, listDeliveries, { query: { endpoint: id, limit: SHOWN } }),
    ]);
    return {
      title: `Webhooks to ${endpoint.url}`,
      body: (
        <>
          <Section title="How it does" live="health">
            <EndpointFacts of={endpoint} nowMs={nowMs} />
          </Section>
          {!visit.readOnly && <Changes of={endpoint} />}
          <Section title="Newest deliveries" live="deliveries">
            <Deliveries
              of={deliveries}
              nowMs={nowMs}
              empty="Nothing was to go there yet."
              more={
                deliveries.length === SHOWN ? { href: pageAddress('/webhooks', { endpoint: id }) } : undefined
              }
            />
          </Section>
        </>
      ),
    };
  },
};

const Changes = ({ of }: { of: WebhookEndpoint }): Child => (
  <>
    <Section title="What can be done" live="actions">
      <Actions of={of} />
    </Section>
    <Section title="A new secret">
      <p class="quiet">
        It is shown once, below. The present secret signs beside it for as long as the overlap.
      </p>
      <Action
        endpoint={rotateWebhookSecret}
        path={{ id: of.id }}
        label="Make a new secret"
        command={shellLine`rewards webhooks endpoints rotate-secret ${of.id} --overlap {overlap}`}
        confirm="Receivers that know the present secret alone fail when the overlap is over. Make a new one?"
        shows
      >
        <Field name="overlap" label="overlap" value="24h" required />
      </Action>
    </Section>
  </>
);

const EndpointFacts = ({ of, nowMs }: { of: WebhookEndpointDetail; nowMs: number }): Child => (
  <Facts
    of={[
      ['health', <Health of={of} nowMs={nowMs} />],
      ['last delivered', <ExactMoment at={of.latest.lastDeliveredAt} nowMs={nowMs} />],
      ['last failed', <ExactMoment at={of.lastFailedAt} nowMs={nowMs} />],
      ['newest deliveries', <Backlog of={of.latest} nowMs={nowMs} />],
      ['types', of.types.length === 0 ? 'all' : of.types.join(', ')],
      [
        'secrets',
        of.previousSecretUntil === null || Date.parse(of.previousSecretUntil) <= nowMs ? (
          'one'
        ) : (
          <>
            two, until <ExactMoment at={of.previousSecretUntil} nowMs={nowMs} />
          </>
        ),
      ],
      ['brand', <Id of={of.brandId} href={pageAddress(`/brands/${encodeURIComponent(of.brandId)}`)} />],
      ['added', <ExactMoment at={of.createdAt} nowMs={nowMs} />],
      ['endpoint', <code>{of.id}</code>],
    ]}
  />
);

const Actions = ({ of: { id, enabled } }: { of: WebhookEndpoint }): Child => (
  <>
    <Action
      endpoint={setWebhookEndpoint}
      path={{ id }}
      body={{ enabled: !enabled }}
      then={endpointAddress(id)}
      label={enabled ? 'Turn off' : 'Turn on'}
      command={
        enabled
          ? shellLine`rewards webhooks endpoints set ${id} enabled=off`
          : shellLine`rewards webhooks endpoints enable ${id}`
      }
    />
    {enabled && (
      <Action
        endpoint={recoverWebhooks}
        path={{ id }}
        label="Send what it missed"
        command={shellLine`rewards webhooks endpoints recover ${id} --since {since}`}
        shows
      >
        <Field name="since" label="since" value="5d" required help="a time, or a duration before now" />
      </Action>
    )}
  </>
);

const WHY_OFF = { gone: 'it answered 410', failing: 'it failed for five days', operator: 'by hand' } as const;

/** Whether it takes what it gets. */
export function Health({ of, nowMs }: { of: WebhookEndpoint; nowMs: number }): Child {
  if (!of.enabled) {
    return (
      <>
        <State is="waiting">off</State> {of.disabledWhy === null ? '' : `${WHY_OFF[of.disabledWhy]}, `}
        <Moment at={of.disabledAt} nowMs={nowMs} />
      </>
    );
  }
  const isPaused = of.pausedUntil !== null && Date.parse(of.pausedUntil) > nowMs;
  return (
    <>
      {of.failingSince === null ? (
        <State is="good">takes them</State>
      ) : (
        <>
          <State is="bad">fails</State> since <Moment at={of.failingSince} nowMs={nowMs} />
        </>
      )}
      {isPaused && (
        <>
          , <State is="waiting">asked for time</State> until <Moment at={of.pausedUntil} nowMs={nowMs} />
        </>
      )}
    </>
  );
}

/** How the newest deliveries stand: `12 delivered, 3 waiting`. */
export function Backlog({ of, nowMs }: { of: WebhookEndpointDetail['latest']; nowMs: number }): Child {
  if (of.deliveries === 0) return 'none yet';
  const counts = (['delivered', 'waiting', 'held', 'failed'] as const)
    .filter((state) => of[state] > 0)
    .map((state) => `${of[state]} ${state}`);
  return (
    <>
      {counts.join(', ')}
      {of.dueSince !== null && (
        <>
          , due since <Moment at={of.dueSince} nowMs={nowMs} />
        </>
      )}
    </>
  );
}
