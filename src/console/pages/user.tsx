/** One user: what they have, what they may claim and when, and why they got what they got. */
import type { Child } from 'hono/jsx';
import { listRequests, type RequestSummary } from '../../contract/control/requests.ts';
import { type ShownUser, showUser } from '../../contract/control/users.ts';
import { counted } from '../../lib/text/counted.ts';
import { shellLine } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, PageRefusal, pageAddress, type Visit } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { ExactMoment, Moment } from '../parts/moment.tsx';
import { StreakCalendar } from '../parts/streak-calendar.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';
import { transactionAddress } from './chain.tsx';
import { requestRows } from './request-rows.tsx';

const REQUESTS_SHOWN = 20;

export const user: ConsolePage = {
  path: '/users/:name',
  async view(visit) {
    const { nowMs } = visit;
    const name = visit.params.name ?? '';
    const shown = await withoutWallet(answerOf(visit, showUser, { path: { user: name } }));
    const asked = shown?.user ?? name;
    const { requests } = await answerOf(visit, listRequests, {
      query: { user: asked, limit: REQUESTS_SHOWN },
    });
    return {
      title: asked,
      body: (
        <>
          {shown === undefined ? (
            <p class="notice">No wallet yet: nothing was paid to this user. Their requests say why.</p>
          ) : (
            <Wallet of={shown} nowMs={nowMs} />
          )}
          <Section title="Latest requests" live="requests">
            <Requests of={requests} user={asked} visit={visit} />
          </Section>
          {shown !== undefined && <History of={shown} nowMs={nowMs} />}
          <Command text={shellLine`rewards users show ${asked}`} />
        </>
      ),
    };
  },
};

/** Undefined where the API says that there is no wallet. */
const withoutWallet = (found: Promise<ShownUser>): Promise<ShownUser | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof PageRefusal && error.status === 404) return undefined;
    throw error;
  });

const Wallet = ({ of, nowMs }: { of: ShownUser; nowMs: number }): Child => (
  <>
    <Section title="Wallet" live="wallet">
      <Facts
        of={[
          ['holds', `${of.rwt} RWT`],
          ['address', <code>{of.address}</code>],
          ['place in the key tree', of.index ?? 'none: the user brought it along'],
          ['since', <ExactMoment at={of.createdAt} nowMs={nowMs} />],
          ...of.identities.map(({ provider, providerUserId, username }): [string, Child] => [
            `on ${provider}`,
            <Text of={[username, providerUserId].filter(Boolean).join(', ')} />,
          ]),
        ]}
      />
    </Section>
    {of.brands.map((brand) => (
      <Section title={brand.name} live={`at-${brand.brandId}`}>
        <AtBrand of={brand} nowMs={nowMs} />
      </Section>
    ))}
  </>
);

function AtBrand({ of, nowMs }: { of: ShownUser['brands'][number]; nowMs: number }): Child {
  const { streak } = of;
  return (
    <>
      <Facts
        of={[
          ['earned', `${of.earned} RWT in ${counted(of.rewards, 'reward')}`],
          ['brand', <Id of={of.brandId} href={pageAddress(`/brands/${of.brandId}`)} />],
          ...(streak === null || streak.longest === 0
            ? []
            : ([
                ['streak', `${streak.current} days, the longest ${streak.longest}`],
                ['today', streak.checkedInToday ? 'was active' : 'not active yet'],
                ['multiplies by', streak.multiplier],
              ] satisfies [string, Child][])),
          ...(of.aliases.length === 0
            ? []
            : ([['also known as', <Text of={of.aliases.join(', ')} />]] satisfies [string, Child][])),
        ]}
      />
      {streak !== null && streak.activeDays.length > 0 && (
        <StreakCalendar at={of.name} today={streak.today} activeDays={streak.activeDays} />
      )}
      <Table
        label={`Claims at ${of.name}`}
        columns={['event', { name: 'claims', isNumber: true }, 'last', 'may be claimed again']}
        rows={of.claims.map(({ eventType, claims, maxClaims, lastAt, lastAmount, againAt }) => [
          <Text of={eventType} />,
          maxClaims === null ? claims : `${claims} of ${maxClaims}`,
          <>
            +{lastAmount} RWT <Moment at={lastAt} nowMs={nowMs} />
          </>,
          maxClaims !== null && claims >= maxClaims ? (
            <State is="bad">never: none is left</State>
          ) : againAt === null ? (
            <State is="good">now</State>
          ) : (
            <State is="waiting">
              <Moment at={againAt} nowMs={nowMs} />
            </State>
          ),
        ])}
        empty="No event was claimed."
      />
    </>
  );
}

const Requests = (props: { of: readonly RequestSummary[]; user: string; visit: Visit }): Child => (
  <>
    {requestRows(props.of, props.visit)}
    <p>
      <a href={pageAddress('/requests', { user: props.user })}>All requests of this user</a>
    </p>
  </>
);

const STATUS_IS = {
  waiting: 'waiting',
  sent: 'waiting',
  included: 'good',
  final: 'good',
  failed: 'bad',
} as const;

const History = ({ of, nowMs }: { of: ShownUser; nowMs: number }): Child => (
  <Section title="Rewards" live="rewards">
    <Table
      label="Rewards"
      columns={['when', { name: 'RWT', isNumber: true }, 'event', 'state', 'transaction']}
      rows={of.rewards.map(({ at, amount, eventType, status, reason, transactionHash }) => [
        <Moment at={at} nowMs={nowMs} />,
        `+${amount}`,
        <Text of={eventType} />,
        <>
          <State is={STATUS_IS[status]}>{status}</State>
          {reason !== null && <Text of={reason} />}
        </>,
        transactionHash === null ? (
          'none yet'
        ) : (
          <Id of={transactionHash} href={transactionAddress(transactionHash)} />
        ),
      ])}
      empty="None yet."
    />
  </Section>
);
