/** What happens now, and what needs a look. */
import type { Child } from 'hono/jsx';
import { moveClock } from '../../contract/control/clock.ts';
import { type Overview, showOverview } from '../../contract/control/overview.ts';
import { listRequests, sendEvent } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Action, Field } from '../parts/action.tsx';
import { Moment } from '../parts/moment.tsx';
import { PageLink } from '../parts/read-only.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';
import { requestRows } from './request-rows.tsx';

/** Enough to see what happens, few enough to need little scrolling. */
const SHOWN = 12;

export const overview: ConsolePage = {
  path: '/',
  nav: 'Overview',
  async view(visit) {
    const [now, { requests }] = await Promise.all([
      answerOf(visit, showOverview),
      answerOf(visit, listRequests, { query: { limit: SHOWN } }),
    ]);
    const { nowMs } = visit;
    return {
      title: 'Overview',
      body: (
        <>
          <Section title="Needs a look" live="alarms">
            <Alarms of={now.alarms ?? []} nowMs={nowMs} />
          </Section>
          <Section title="Now" live="now">
            <Now of={now} />
          </Section>
          <Section title="Send an event">
            <Action
              endpoint={sendEvent}
              label="Send"
              command="rewards send-event {event.eventType} --user {event.userEmail}"
              then={pageAddress('/requests/{id}')}
            >
              <Field name="event.eventType" label="event" placeholder="account_creation" required />
              <Field name="event.userEmail" label="user" placeholder="you@demo.example" required />
            </Action>
            <Action
              endpoint={moveClock}
              body={{ advance: '1h' }}
              label="An hour on"
              command="rewards clock advance 1h"
            />
          </Section>
          <Section title="Latest requests" live="requests">
            {requestRows(requests, visit)}
            <p>
              <a href={pageAddress('/requests')}>All requests</a>
            </p>
          </Section>
          <Section title="Decisions since the start" live="decisions">
            <Decisions of={now.log} />
          </Section>
          <Section title="Lanes" live="lanes">
            <Lanes of={now} />
          </Section>
          <Section title="Budgets" live="budgets">
            <Budgets of={now} nowMs={nowMs} />
          </Section>
        </>
      ),
    };
  },
};

export const Alarms = ({ of, nowMs }: { of: NonNullable<Overview['alarms']>; nowMs: number }): Child => (
  <Table
    label="Alarms"
    columns={['alarm', 'about', 'since', 'what to do']}
    rows={of.map(({ code, about, since, remedy }) => [
      <State is="bad">{code.replaceAll('_', ' ')}</State>,
      <Text of={about} />,
      <Moment at={since} nowMs={nowMs} />,
      <Text of={remedy} />,
    ])}
    empty="Nothing."
  />
);

export function Now({ of: { clock, waiting, totals, log } }: { of: Overview }): Child {
  const waits = Object.entries(waiting).map(([what, { count, oldestMs }]): [string, Child] => [
    `${what} that wait`,
    count === 0 ? (
      <State is="good">none</State>
    ) : (
      <State is="waiting">{`${count}${oldestMs ? `, the oldest for ${formatDuration(oldestMs)}` : ''}`}</State>
    ),
  ]);
  return (
    <Facts
      of={[
        [
          'clock',
          `${clock.frozen ? 'stands still at' : 'runs,'} ${clock.now.slice(0, 19).replace('T', ' ')}`,
        ],
        ...(log
          ? ([
              ['requests a second', log.perSecond.toFixed(1)],
              ['requests', `${log.requests} in all, ${log.refused} refused, ${log.failed} failed`],
            ] satisfies [string, Child][])
          : []),
        ['rewarded', `${totals.rwtRewarded} RWT in ${totals.rewards} rewards`],
        ...waits,
      ]}
    />
  );
}

const Decisions = ({ of }: { of: Overview['log'] }): Child => (
  <Table
    label="Decisions"
    columns={['decision', { name: 'how often', isNumber: true }]}
    rows={Object.entries(of?.decisions ?? {})
      .sort(([, one], [, other]) => other - one)
      .map(([code, count]) => [
        <a href={pageAddress('/requests', { decision: code })}>{code.replaceAll('_', ' ')}</a>,
        count,
      ])}
    empty="None yet."
  />
);

export const Lanes = ({ of: { lanes, lanesMore } }: { of: Overview }): Child => (
  <>
    <Table
      label="Lanes"
      columns={[
        'purpose',
        'account',
        { name: 'in flight', isNumber: true },
        { name: 'not final', isNumber: true },
        'held by',
      ]}
      rows={lanes.map(({ purpose, address, inFlight, notFinal, holder }) => [
        purpose,
        <Id of={address} />,
        inFlight,
        notFinal,
        holder === null ? <State is="waiting">nobody</State> : <Text of={holder} />,
      ])}
      empty="Nothing was sent yet."
    />
    {lanesMore > 0 && <p class="quiet">{`and ${lanesMore} more`}</p>}
  </>
);

export const Budgets = ({ of: { brands, brandsMore }, nowMs }: { of: Overview; nowMs: number }): Child => (
  <>
    <Table
      label="Budgets"
      columns={['brand', { name: 'left', isNumber: true }, { name: 'of', isNumber: true }, 'spend limits']}
      rows={brands.map(({ brandId, name, available, deposited, spending }) => [
        <PageLink to={pageAddress(`/brands/${brandId}`)}>
          <Text of={name} />
        </PageLink>,
        `${available} RWT`,
        `${deposited} RWT`,
        spending.length === 0
          ? 'none'
          : spending.map(({ span, spent, limit, endsAt }) => (
              <p>
                {`${spent} of ${limit} RWT this ${span}, which ends `}
                <Moment at={endsAt} nowMs={nowMs} />
              </p>
            )),
      ])}
      empty="No brand yet."
    />
    {brandsMore > 0 && <p class="quiet">{`and ${brandsMore} more`}</p>}
  </>
);
