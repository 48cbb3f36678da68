/** What stands in for an operator's page while the database is away: what that means, what to do, and what is known without it. */
import type { Child } from 'hono/jsx';
import type { Overview } from '../../contract/control/overview.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { PageContent } from '../page.ts';
import { Moment } from '../parts/moment.tsx';
import { AlarmsSection } from '../parts/standing.tsx';
import { Section, Table } from '../parts/table.tsx';
import { State, Text } from '../parts/text.tsx';
import { GasSection, type OwnFacts, type ProcessFacts, ProcessSection } from './operator.tsx';

/** What a process knows while its database is away. */
export interface KnownWithoutDatabase {
  /** reached: it is there and has not answered in time. */
  database: 'unreachable' | 'reached';
  /** Undefined where this page is the first to notice. */
  sinceMs: number | undefined;
  /** Of Postgres or of the operating system, such as ECONNREFUSED. */
  code: string | undefined;
  process: OwnFacts;
  alarms: NonNullable<Overview['alarms']>;
  /** Who sends what, as of the last look. */
  lanes: Readonly<Record<string, string>>;
  nodes: readonly { node: number; isForeign: boolean; away: { why: string; forMs: number } | undefined }[];
  gas: ProcessFacts['gas'];
  /** The page as it was made of the last answers, of which the oldest is of `atMs`; undefined where it was not asked for before. */
  seen: { atMs: number; body: Child } | undefined;
}

/** The page; `nowMs` is the machine's clock. */
export const databaseAway = (of: KnownWithoutDatabase, nowMs: number): PageContent => ({
  title: of.database === 'unreachable' ? 'The database is not reachable' : 'The database does not answer',
  body: (
    <>
      <Section title="What happened" live="away">
        <What of={of} nowMs={nowMs} />
      </Section>
      <Meaning />
      <Remedy />
      <AlarmsSection of={of.alarms} nowMs={nowMs} />
      <Section title="Lanes, as this process saw them last" live="away-lanes">
        <Table
          label="Lanes of this process"
          columns={['lane', 'who sends']}
          rows={Object.entries(of.lanes).map(([lane, state]) => [lane, state])}
          empty="Not looked at yet."
        />
      </Section>
      <Section title="Chain nodes" live="away-nodes">
        <Nodes of={of.nodes} />
      </Section>
      <GasSection of={of.gas} />
      <ProcessSection of={of.process} nowMs={nowMs} />
      {of.seen ? (
        <>
          <Section title="Last seen" live="away-seen">
            <p class="notice">
              All below is old: it is what this page showed <Moment at={of.seen.atMs} nowMs={nowMs} />.
            </p>
          </Section>
          {of.seen.body}
        </>
      ) : (
        <p class="quiet">
          This page was not opened before the database went away, so there are no earlier figures of it.
        </p>
      )}
    </>
  ),
});

const What = ({ of, nowMs }: { of: KnownWithoutDatabase; nowMs: number }): Child => (
  <p class="notice bad">
    {of.database === 'unreachable'
      ? 'This process does not reach the database'
      : 'The database did not answer this page in time'}
    {of.sinceMs === undefined ? (
      '; how long already is not known'
    ) : (
      <>
        ; it noticed <Moment at={of.sinceMs} nowMs={nowMs} />
      </>
    )}
    {of.code !== undefined && (
      <>
        {' '}
        (<code>{of.code}</code>)
      </>
    )}
    . This page looks again by itself, and shows everything once the database answers.
  </p>
);

const Meaning = (): Child => (
  <Section title="What that means">
    <ul>
      <li>Nothing that was granted is lost: it stands in the database, and is paid once that is back.</li>
      <li>Payouts, mints, redemptions, relayed calls and webhooks wait.</li>
      <li>
        Transactions that nodes have already may still get into blocks; they are booked once the database is
        back.
      </li>
      <li>
        Events, redemptions, checkouts and calls are answered 503. Nothing is promised to them, and who asked
        may ask again.
      </li>
      <li>
        <code>/readyz</code> answers 503, so that balancers send nothing here.
      </li>
    </ul>
  </Section>
);

const Remedy = (): Child => (
  <Section title="What to do">
    <ol>
      <li>Look whether Postgres runs, and whether this machine reaches it. Bring it back.</li>
      <li>
        Leave this process running: it goes on by itself. A start needs the database, and ends with code 75
        without it.
      </li>
      <li>
        Did it come back from a backup, or as a copy that was behind? Stop all processes first: they must not
        send from a ledger that has lost commits.
      </li>
    </ol>
    <p>
      More, and what the codes mean: <code>docs/operations.md</code>, “While the database is away”.
    </p>
  </Section>
);

const Nodes = ({ of }: { of: KnownWithoutDatabase['nodes'] }): Child => (
  <Table
    label="Chain nodes"
    columns={['node', 'state']}
    rows={of.map(({ node, isForeign, away }) => [
      `chain node ${node}`,
      isForeign ? (
        <State is="bad">of another chain, not used</State>
      ) : away ? (
        <State is="bad">
          away for {formatDuration(Math.floor(away.forMs / 1_000) * 1_000)}: <Text of={away.why} />
        </State>
      ) : (
        <State is="good">not known to be away</State>
      ),
    ])}
    empty="None."
  />
);
