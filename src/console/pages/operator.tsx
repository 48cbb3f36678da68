/** What an operator looks at first: alarms with what to do, what waits, lanes, replicas, gas money, slow requests, this process. */
import type { Child } from 'hono/jsx';
import { showOverview } from '../../contract/control/overview.ts';
import { listRequests, type RequestSummary } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { counted } from '../../lib/text/counted.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Moment } from '../parts/moment.tsx';
import { AlarmsSection, BudgetsSection, LanesSection, NowSection } from '../parts/standing.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';
import { requestRows } from './request-rows.tsx';

/** What only the process that answers knows of itself. */
export interface ProcessFacts extends OwnFacts {
  /** Null where no node answers. */
  gas: readonly GasMoney[] | null;
  replicas: readonly ShownReplica[];
}

/** What needs neither ledger nor chain. */
export interface OwnFacts {
  version: string;
  /** The newest migration of the ledger. */
  schema: string;
  startedMs: number;
  /** Of its last comparison of ledger and chain; undefined before the first, and where another process compares. */
  compared: { atMs: number; ok: boolean; differences: number; block: number | null } | undefined;
  contracts: Readonly<Record<string, string>>;
}

export interface GasMoney {
  account: string;
  address: string;
  /** In the chain's own coin. */
  has: string;
  /** At the pace of its latest transactions; undefined where it has sent nothing that cost anything, null where the ledger is away. */
  lastsMs: number | undefined | null;
  transactions: number;
}

/** A process that sends, as its leases tell. */
export interface ShownReplica {
  name: string;
  isThis: boolean;
  lanes: readonly { purpose: string; address: string }[];
  /** For how long it has not renewed a lease; undefined where that is not known. */
  renewedAgoMs: number | undefined;
}

/** Of so many latest requests the slowest are shown. */
const LOOKED_AT = 500;
const SLOWEST = 10;
/** Less than this is a matter of today. */
const SOON_MS = 24 * 60 * 60_000;

export const operatorOverview = (readProcess: () => Promise<ProcessFacts>): ConsolePage => ({
  path: '/',
  nav: 'Overview',
  async view(visit) {
    const { nowMs, fromMemory } = visit;
    const [now, { requests }, facts] = await Promise.all([
      answerOf(visit, showOverview),
      answerOf(visit, listRequests, { query: { limit: LOOKED_AT } }),
      fromMemory ? undefined : readProcess(),
    ]);
    return {
      title: 'Overview',
      body: (
        <>
          {facts && <AlarmsSection of={now.alarms ?? []} nowMs={nowMs} />}
          <NowSection of={now} />
          <LanesSection of={now} />
          {facts && (
            <Section title="Replicas" live="replicas">
              <Replicas of={facts.replicas} nowMs={nowMs} />
            </Section>
          )}
          {facts && <GasSection of={facts.gas} />}
          <BudgetsSection of={now} nowMs={nowMs} />
          <Section title={`The slowest of the latest ${counted(requests.length, 'request')}`} live="slowest">
            {requestRows(slowestOf(requests), visit, { href: pageAddress('/requests') })}
          </Section>
          {facts && <ProcessSection of={facts} nowMs={nowMs} />}
        </>
      ),
    };
  },
});

const slowestOf = (requests: readonly RequestSummary[]) =>
  [...requests].sort((one, other) => other.durationMs - one.durationMs).slice(0, SLOWEST);

const Replicas = ({ of, nowMs }: { of: ProcessFacts['replicas']; nowMs: number }): Child => (
  <>
    <p class="quiet">
      Processes that hold lanes, by their leases. The ledger knows nothing of one that holds none, such as one
      with the role api alone.
    </p>
    <Table
      label="Replicas"
      columns={['process', 'lanes', 'renewed']}
      rows={of.map(({ name, isThis, lanes, renewedAgoMs }) => [
        <>
          <Text of={name} />
          {isThis && ' this process'}
        </>,
        lanes.length === 0 ? (
          <State is="waiting">none any more</State>
        ) : (
          lanes.map(({ purpose, address }) => (
            <p>
              {purpose} <Id of={address} />
            </p>
          ))
        ),
        <Moment at={renewedAgoMs === undefined ? undefined : nowMs - renewedAgoMs} nowMs={nowMs} />,
      ])}
      empty="No process holds a lane."
    />
  </>
);

/** What the accounts of this process have for gas. */
export const GasSection = ({ of }: { of: ProcessFacts['gas'] }): Child => (
  <Section title="Gas money" live="gas">
    <Gas of={of} />
  </Section>
);

/** The process that answers, by what it knows itself. */
export const ProcessSection = (props: { of: OwnFacts; nowMs: number }): Child => (
  <Section title="This process" live="process">
    <Process {...props} />
  </Section>
);

const Gas = ({ of }: { of: ProcessFacts['gas'] }): Child =>
  of === null ? (
    <p class="notice bad">No chain node answers, so nobody knows what the accounts have.</p>
  ) : (
    <Table
      label="Gas money"
      columns={[
        'account',
        'address',
        { name: 'has', isNumber: true },
        'lasts at the pace of its latest transactions',
      ]}
      rows={of.map(({ account, address, has, lastsMs, transactions }) => [
        account,
        <Id of={address} />,
        has,
        lastsMs === null ? (
          'nobody knows while the database is away'
        ) : lastsMs === undefined ? (
          'it has sent nothing yet'
        ) : (
          <State is={lastsMs < SOON_MS ? 'bad' : 'good'}>
            {`${formatDuration(wholeHours(lastsMs))}, by ${counted(transactions, 'transaction')}`}
          </State>
        ),
      ])}
      empty="No account of this process sends."
    />
  );

const HOUR_MS = 60 * 60_000;
/** Minutes say nothing of a pace, but for what ends within the hour. */
const wholeHours = (ms: number) =>
  ms < HOUR_MS ? Math.floor(ms / 60_000) * 60_000 : Math.floor(ms / HOUR_MS) * HOUR_MS;

const Process = ({ of, nowMs }: { of: OwnFacts; nowMs: number }): Child => (
  <Facts
    of={[
      ['version', of.version],
      ['tables', of.schema],
      ['runs since', <Moment at={of.startedMs} nowMs={nowMs} />],
      [
        'ledger and chain',
        of.compared === undefined ? (
          'not compared by this process yet'
        ) : (
          <>
            <State is={of.compared.ok ? 'good' : 'bad'}>
              {of.compared.ok ? 'agree' : counted(of.compared.differences, 'difference')}
            </State>
            {of.compared.block !== null && ` as of block ${of.compared.block}`},{' '}
            <Moment at={of.compared.atMs} nowMs={nowMs} />
          </>
        ),
      ],
      ...Object.entries(of.contracts).map(([name, address]): [string, Child] => [name, <Id of={address} />]),
    ]}
  />
);
