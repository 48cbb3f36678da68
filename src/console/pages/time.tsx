/** Time and snapshots: the one clock, and states of the whole stack to go back to. */
import type { Child } from 'hono/jsx';
import {
  type ClockState,
  type DueList,
  moveClock,
  showClock,
  showDue,
} from '../../contract/control/clock.ts';
import {
  listSnapshots,
  removeSnapshot,
  resetStack,
  restoreSnapshot,
  type Snapshot,
  saveSnapshot,
  undo,
} from '../../contract/control/snapshots.ts';
import { formatDuration } from '../../lib/duration.ts';
import { shellLine } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Action, Field } from '../parts/action.tsx';
import { ExactMoment, Moment } from '../parts/moment.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { State, Text } from '../parts/text.tsx';
import { TimeLine } from '../parts/time-line.tsx';

/** Enough to see what comes; `rewards clock due` has more. */
const DUE_SHOWN = 30;

export const time: ConsolePage = {
  path: '/time',
  nav: 'Time and snapshots',
  async view(visit) {
    const [clock, { due }, { snapshots, unreadable }] = await Promise.all([
      answerOf(visit, showClock),
      answerOf(visit, showDue, { query: { limit: DUE_SHOWN } }),
      answerOf(visit, listSnapshots),
    ]);
    return {
      title: 'Time and snapshots',
      body: (
        <>
          <Section title="The clock" live="clock">
            <ClockFacts of={clock} />
          </Section>
          <Section title="What falls due next" live="due">
            <Due of={due} nowMs={visit.nowMs} />
          </Section>
          <MoveClock of={clock} />
          <Section title="Snapshots" live="snapshots">
            <Snapshots of={snapshots} nowMs={visit.nowMs} />
            {unreadable.length > 0 && <p class="notice bad">Not snapshots: {unreadable.join(', ')}</p>}
          </Section>
          <KeepAndGoBack />
        </>
      ),
    };
  },
};

const ClockFacts = ({ of: { now, frozen, offsetMs } }: { of: ClockState }) => (
  <Facts
    of={[
      ['now', <time datetime={now}>{now}</time>],
      ['it', <State is={frozen ? 'waiting' : 'good'}>{frozen ? 'stands still' : 'runs'}</State>],
      [
        'against the wall',
        Math.abs(offsetMs) < 1_000
          ? 'the same'
          : `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead' : 'behind'}`,
      ],
    ]}
  />
);

const Due = ({ of, nowMs }: { of: DueList['due']; nowMs: number }): Child => (
  <>
    {of.length > 0 && (
      <TimeLine moments={of.map(({ at, what }) => ({ atMs: Date.parse(at), what }))} nowMs={nowMs} />
    )}
    <Table
      label="What falls due next"
      columns={['when', 'what', 'go there']}
      rows={of.map(({ at, what }) => [
        <Moment at={at} nowMs={nowMs} />,
        <Text of={what} />,
        <Action
          endpoint={moveClock}
          body={{ set: at }}
          label="Go there"
          command={shellLine`rewards clock set ${at}`}
        />,
      ])}
      empty="Nothing lies ahead."
    />
  </>
);

function MoveClock({ of: { frozen } }: { of: ClockState }): Child {
  return (
    <Section title="Move it">
      <p class="quiet">
        Rules, chain, payments, webhooks and tokens follow. What falls due on the way happens; time moves only
        forward.
      </p>
      <Action
        endpoint={moveClock}
        body={{ advance: '1h' }}
        label="An hour on"
        command="rewards clock advance 1h"
      />
      <Action
        endpoint={moveClock}
        body={{ advance: '24h' }}
        label="A day on"
        command="rewards clock advance 24h"
      />
      <Action endpoint={moveClock} label="By so much" command="rewards clock advance {advance}" shows>
        <Field name="advance" label="how long" placeholder="61s, 15m, 1h30m" required />
      </Action>
      <Action endpoint={moveClock} label="To a moment" command="rewards clock set {set}" shows>
        <Field name="set" label="moment" placeholder="2030-01-01T00:00:00Z" required />
      </Action>
      <Action
        endpoint={moveClock}
        label="Until it holds"
        command="rewards clock advance --until {until}"
        shows
      >
        <Field
          name="until"
          label="condition"
          placeholder="cooldown:alice@demo.example/purchase"
          help="or the id of a refused request"
          required
        />
      </Action>
      <Action
        endpoint={moveClock}
        body={{ freeze: !frozen }}
        label={frozen ? 'Let it run' : 'Stop it'}
        command={frozen ? 'rewards clock run' : 'rewards clock freeze'}
        then="/_rewards/console/time"
      />
    </Section>
  );
}

const Snapshots = ({ of, nowMs }: { of: readonly Snapshot[]; nowMs: number }): Child => (
  <Table
    label="Snapshots"
    columns={[
      'name',
      'clock',
      'block',
      { name: 'rows', isNumber: true },
      { name: 'size', isNumber: true },
      'note',
      '',
    ]}
    rows={of.map(({ name, note, clock, chain, rows, bytes }) => [
      <a href={pageAddress(`/time/snapshots/${encodeURIComponent(name)}`)}>
        <Text of={name} />
      </a>,
      <ExactMoment at={clock.nowMs} nowMs={nowMs} />,
      String(chain.block),
      Object.values(rows).reduce((sum, count) => sum + count, 0),
      `${Math.ceil(bytes / 1_024)} KB`,
      <Text of={note} />,
      <>
        <Action
          endpoint={restoreSnapshot}
          body={{ name }}
          label="Restore"
          command={shellLine`rewards snapshot restore ${name}`}
          confirm={`Go back to ${name}? What happened since is gone, unless a snapshot has it.`}
          then="/_rewards/console/time"
        />
        <Action
          endpoint={removeSnapshot}
          path={{ name }}
          label="Delete"
          command={shellLine`rewards snapshot rm ${name}`}
          confirm={`Delete the snapshot ${name}?`}
        />
      </>,
    ])}
    empty="No snapshot yet."
  />
);

const KeepAndGoBack = (): Child => (
  <Section title="Save, or go back">
    <Action
      endpoint={saveSnapshot}
      label="Save"
      command="rewards snapshot save {name}"
      then="/_rewards/console/time"
    >
      <Field name="name" label="name" placeholder="snapshot-1" />
      <Field name="note" label="what it is for" />
    </Action>
    <Action
      endpoint={undo}
      label="Undo the last change"
      command="rewards undo"
      then="/_rewards/console/time"
      confirm="Go back to before the last request that changed something?"
    />
    <Action
      endpoint={resetStack}
      label="Begin anew"
      command="rewards reset"
      then="/_rewards/console/time"
      confirm="Begin anew, as the seed files say? Snapshots are kept."
    />
  </Section>
);
