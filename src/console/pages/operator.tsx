/** What an operator looks at first: alarms with what to do, what waits, lanes, gas money, slow requests, this process. */
import type { Child } from 'hono/jsx';
import { showOverview } from '../../contract/control/overview.ts';
import { listRequests, type RequestSummary } from '../../contract/control/requests.ts';
import { counted } from '../../lib/counted.ts';
import { formatDuration } from '../../lib/duration.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Moment } from '../parts/moment.tsx';
import { Attention, BudgetsSection, LanesSection } from '../parts/standing.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Id, State } from '../parts/text.tsx';
import { requestRows } from './request-rows.tsx';

/** What only the process that answers knows of itself. */
export interface ProcessFacts {
  version: string;
  /** The newest migration of the ledger. */
  schema: string;
  startedMs: number;
  /** Of its last comparison of ledger and chain; undefined before the first, and where another process compares. */
  compared: { atMs: number; ok: boolean; differences: number; block: number | null } | undefined;
  /** Null where no node answers. */
  gas: readonly GasMoney[] | null;
  contracts: Readonly<Record<string, string>>;
}

export interface GasMoney {
  account: string;
  address: string;
  /** In the chain's own coin. */
  has: string;
  /** At the pace of its latest transactions; undefined where it has sent nothing that cost anything. */
  lastsMs: number | undefined;
  transactions: number;
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
    const [now, { requests }, facts] = await Promise.all([
      answerOf(visit, showOverview),
      answerOf(visit, listRequests, { query: { limit: LOOKED_AT } }),
      readProcess(),
    ]);
    const { nowMs } = visit;
    return {
      title: 'Overview',
      body: (
        <>
          <Attention of={now} nowMs={nowMs} />
          <LanesSection of={now} />
          <Section title="Gas money" live="gas">
            <Gas of={facts.gas} />
          </Section>
          <BudgetsSection of={now} nowMs={nowMs} />
          <Section title={`The slowest of the latest ${counted(requests.length, 'request')}`} live="slowest">
            {requestRows(slowestOf(requests), visit, { href: pageAddress('/requests') })}
          </Section>
          <Section title="This process" live="process">
            <Process of={facts} nowMs={nowMs} />
          </Section>
        </>
      ),
    };
  },
});

const slowestOf = (requests: readonly RequestSummary[]) =>
  [...requests].sort((one, other) => other.durationMs - one.durationMs).slice(0, SLOWEST);

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
        lastsMs === undefined ? (
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

const Process = ({ of, nowMs }: { of: ProcessFacts; nowMs: number }): Child => (
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
