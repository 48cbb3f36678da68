/** The relay: what users and addresses have used of their limits, whose gas is spent, and what the sending accounts have under way. */
import type { Child } from 'hono/jsx';
import { type RelayState, showRelay } from '../../contract/control/relay.ts';
import { formatDuration } from '../../lib/duration.ts';
import { coinsOfGwei } from '../../lib/gas-money.ts';
import { counted } from '../../lib/text/counted.ts';
import { shellOptions } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, moreRows, pageAddress, rowsAsked } from '../page.ts';
import { Command, Field, Filter } from '../parts/action.tsx';
import { Moment } from '../parts/moment.tsx';
import { Section, Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';

const SIZE = { first: 50, most: 500 };

export const relay: ConsolePage = {
  path: '/relay',
  nav: 'Relay',
  async view(visit) {
    const { query, nowMs } = visit;
    const limit = rowsAsked(query.limit, SIZE);
    const user = query.user || undefined;
    const { users, addresses, payers, lanes } = await answerOf(visit, showRelay, { query: { user, limit } });
    const shown = { nowMs, user, limit };
    return {
      title: 'Relay',
      body: (
        <>
          <Filter label="Whose limits">
            <Field name="user" label="user" value={query.user} placeholder="e-mail or address" />
          </Filter>
          <Command text={`rewards relay limits${shellOptions({ user })}`} />
          <Section title="Users" live="relay-users">
            <Windows of={users} label="Users" {...shown} />
          </Section>
          <Section title="Addresses that called" live="relay-addresses">
            <Windows of={addresses} label="Addresses" {...shown} />
          </Section>
          <Section title="Gas of today" live="relay-payers">
            <Payers of={payers} {...shown} />
          </Section>
          <Section title="Lanes" live="relay-lanes">
            <Lanes of={lanes} {...shown} />
          </Section>
        </>
      ),
    };
  },
};

interface Shown {
  nowMs: number;
  user: string | undefined;
  limit: number;
}

const moreOf = (
  { total, shown }: { total: number; shown: readonly unknown[] },
  { user, limit }: Pick<Shown, 'user' | 'limit'>,
) =>
  moreRows(
    { count: shown.length, limit, most: SIZE.most, total },
    { href: (most) => pageAddress('/relay', { user, limit: most }), others: 'The filter finds a user.' },
  );

const Windows = (props: { of: RelayState['users']; label: string } & Shown): Child => {
  const { of, label, nowMs } = props;
  const { limit, windowSeconds, shown } = of;
  return (
    <>
      <p class="quiet">{`${counted(limit, 'call')} in ${formatDuration(windowSeconds * 1_000)} for each.`}</p>
      <Table
        label={label}
        columns={[
          'who',
          { name: 'used', isNumber: true },
          { name: 'left', isNumber: true },
          'all free again',
        ]}
        rows={shown.map(({ subject, used, left, resetAt }) => [
          <Text of={subject} />,
          used,
          left === 0 ? <State is="bad">none</State> : left,
          <Moment at={resetAt} nowMs={nowMs} />,
        ])}
        empty="Nobody has used any."
        more={moreOf(of, props)}
      />
    </>
  );
};

const Payers = ({ of, nowMs, ...shown }: { of: RelayState['payers'] } & Shown): Child => (
  <>
    <p class="quiet">
      The budgets are whole again <Moment at={of.resetAt} nowMs={nowMs} />.
    </p>
    <Table
      label="Payers of gas"
      columns={[
        'payer',
        'account',
        'state',
        { name: 'spent', isNumber: true },
        { name: 'left', isNumber: true },
        { name: 'budget', isNumber: true },
        { name: 'one user at most', isNumber: true },
      ]}
      rows={of.shown.map((one) => [
        <Text of={one.payer} />,
        <Id of={one.address} />,
        one.ready ? <State is="good">ready</State> : <State is="waiting">the service pays</State>,
        coinsOfGwei(one.spentGwei),
        one.leftGwei <= 0 ? <State is="bad">none</State> : coinsOfGwei(one.leftGwei),
        coinsOfGwei(one.budgetGwei),
        coinsOfGwei(one.userMaxGwei),
      ])}
      empty="Nobody pays for gas."
      more={moreOf(of, shown)}
    />
  </>
);

const Lanes = ({ of, nowMs, ...shown }: { of: RelayState['lanes'] } & Shown): Child => (
  <Table
    label="Lanes"
    columns={[
      'purpose',
      'account',
      { name: 'next nonce', isNumber: true },
      { name: 'under way', isNumber: true },
      { name: 'not final', isNumber: true },
      'held by',
      'until',
    ]}
    rows={of.shown.map((lane) => [
      lane.purpose,
      <Id of={lane.address} />,
      lane.nextNonce ?? '–',
      lane.underWay,
      lane.notFinal,
      lane.leaseUntil === null ? <State is="waiting">nobody</State> : <Text of={lane.owner} />,
      <Moment at={lane.leaseUntil} nowMs={nowMs} />,
    ])}
    empty="Nothing was sent yet."
    more={moreOf(of, shown)}
  />
);
