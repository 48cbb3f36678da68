/** How all of it stands: what every first page of a console shows, the developer's and the operator's. */
import type { Child } from 'hono/jsx';
import type { Overview } from '../../contract/control/overview.ts';
import { formatDuration } from '../../lib/duration.ts';
import { counted } from '../../lib/text/counted.ts';
import { pageAddress } from '../page.ts';
import { Moment } from './moment.tsx';
import { PageLink } from './scope.tsx';
import { Facts, Section, Table } from './table.tsx';
import { Id, State, Text } from './text.tsx';

/** What needs a look, and what happens now. */
export const Attention = ({ of, nowMs }: { of: Overview; nowMs: number }): Child => (
  <>
    <AlarmsSection of={of.alarms ?? []} nowMs={nowMs} />
    <NowSection of={of} />
  </>
);

/** The alarms that last, each with what to do. */
export const AlarmsSection = (props: { of: NonNullable<Overview['alarms']>; nowMs: number }): Child => (
  <Section title="Needs a look" live="alarms">
    <Alarms {...props} />
  </Section>
);

/** What waits and what was done. */
export const NowSection = ({ of }: { of: Overview }): Child => (
  <Section title="Now" live="now">
    <Now of={of} />
  </Section>
);

/** The accounts that send, and what they have under way. */
export const LanesSection = ({ of }: { of: Overview }): Child => (
  <Section title="Lanes" live="lanes">
    <Lanes of={of} />
  </Section>
);

/** What each brand may still pay. */
export const BudgetsSection = ({ of, nowMs }: { of: Overview; nowMs: number }): Child => (
  <Section title="Budgets" live="budgets">
    <Budgets of={of} nowMs={nowMs} />
  </Section>
);

const Alarms = ({ of, nowMs }: { of: NonNullable<Overview['alarms']>; nowMs: number }): Child => (
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

function Now({ of: { clock, waiting, totals, log } }: { of: Overview }): Child {
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
        ['rewarded', `${totals.rwtRewarded} RWT in ${counted(totals.rewards, 'reward')}`],
        ...waits,
      ]}
    />
  );
}

const Lanes = ({ of: { lanes, lanesMore } }: { of: Overview }): Child => (
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

const Budgets = ({ of: { brands, brandsMore }, nowMs }: { of: Overview; nowMs: number }): Child => (
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
