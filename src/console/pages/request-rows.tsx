/** Requests as rows of a table: what was asked, how it was decided, and why. */
import type { Child } from 'hono/jsx';
import type { RequestSummary } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { counted } from '../../lib/text/counted.ts';
import { type MoreRows, pageAddress, type Visit } from '../page.ts';
import { Moment } from '../parts/moment.tsx';
import { PageLink } from '../parts/scope.tsx';
import { Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';

export const requestAddress = (id: string) => pageAddress(`/requests/${encodeURIComponent(id)}`);

export const requestRows = (
  requests: readonly RequestSummary[],
  { nowMs }: Pick<Visit, 'nowMs'>,
  more?: MoreRows,
): Child => (
  <Table
    label="Requests"
    columns={['when', 'request', 'status', 'decision', 'user', 'what', { name: 'took', isNumber: true }]}
    rows={requests.map((request) => [
      <Moment at={request.at} nowMs={nowMs} />,
      <>
        <Id of={request.id} href={requestAddress(request.id)} />{' '}
        <Text of={`${request.method} ${request.path}`} />
      </>,
      <State is={request.status < 400 ? 'good' : 'bad'}>{String(request.status)}</State>,
      <Decision of={request} nowMs={nowMs} />,
      request.user === null ? (
        ''
      ) : (
        <PageLink to={pageAddress(`/users/${encodeURIComponent(request.user)}`)}>
          <Text of={request.user} />
        </PageLink>
      ),
      <Text of={request.eventType ?? request.call ?? ''} />,
      formatDuration(request.durationMs),
    ])}
    empty="No request yet. Send one: rewards send-event purchase"
    more={more}
  />
);

/** `rewarded +100 RWT`, `cooldown, passes in 23h`. */
function Decision({ of, nowMs }: { of: RequestSummary; nowMs: number }): Child {
  const { decision, rewardAmount, passesAt, error, events, rewarded } = of;
  if (events > 1) return <span>{`${rewarded} of ${counted(events, 'event')} rewarded`}</span>;
  if (decision === null) return error === null ? <span /> : <Text of={error} />;
  const amount = rewardAmount === null ? '' : ` +${rewardAmount} RWT`;
  return (
    <span>
      {`${decision.replaceAll('_', ' ')}${amount}`}
      {passesAt !== null && (
        <>
          , passes <Moment at={passesAt} nowMs={nowMs} />
        </>
      )}
    </span>
  );
}
