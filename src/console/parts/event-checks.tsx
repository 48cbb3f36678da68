/** The checks of an event or a call, each with its numbers, and when all of them would pass. */
import type { Child, FC } from 'hono/jsx';
import type { ExplainedEvent, EventOutlook as Outlook } from '../../contract/control/requests.ts';
import { Moment } from './moment.tsx';
import { Table } from './table.tsx';
import { State, Text } from './text.tsx';

const spaced = (name: string) => name.replaceAll('_', ' ');

/** `children` stand beside when it would pass, such as the command that goes there. */
export const EventChecks: FC<{
  of: ExplainedEvent;
  nowMs: number;
  label?: string;
  children?: Child;
}> = ({ of: event, nowMs, label = `Checks of ${event.eventType ?? event.call ?? event.kind}`, children }) => {
  const reached = event.checks.filter(({ outcome }) => outcome !== 'not reached');
  const others = event.checks.filter(({ outcome }) => outcome === 'not reached');
  return (
    <>
      <Table
        label={label}
        columns={['check', 'outcome', 'numbers', 'passes']}
        rows={reached.map(({ name, outcome, text, passesAt, or }) => [
          spaced(name),
          <State is={outcome === 'ok' ? 'good' : outcome === 'refused' ? 'bad' : 'plain'}>{outcome}</State>,
          <>
            <Text of={text} />
            {or !== undefined && (
              <p class="quiet">
                or <Text of={or} />
              </p>
            )}
          </>,
          passesAt === undefined ? '' : passesAt === null ? 'never' : <Moment at={passesAt} nowMs={nowMs} />,
        ])}
        empty="It was refused before any check."
      />
      {others.length > 0 && (
        <p class="quiet">{`Not reached: ${others.map(({ name }) => spaced(name)).join(', ')}.`}</p>
      )}
      {event.never && (
        <p class="notice bad">
          Waiting does not help: {spaced(event.never.check)}, <Text of={event.never.text} />
        </p>
      )}
      {!event.never && event.passesAt !== null && !event.reward && (
        <p class="notice">
          All checks would pass <Moment at={event.passesAt} nowMs={nowMs} />. {children}
        </p>
      )}
    </>
  );
};

/** How an event would be decided. */
export const EventOutlook: FC<{ of: Outlook; nowMs: number }> = ({ of, nowMs }) => (
  <section aria-label="How it would be decided">
    <h3>
      {of.rewardAmount === null ? (
        <State is="bad">{`would be refused: ${spaced(of.decision)}`}</State>
      ) : (
        <State is="good">{`would be rewarded: +${of.rewardAmount} RWT`}</State>
      )}{' '}
      <Moment at={of.at} nowMs={nowMs} />
    </h3>
    <EventChecks of={of.explained} nowMs={nowMs} label="Checks that it would meet" />
  </section>
);
