/** What happens now, and what needs a look. */
import type { Child } from 'hono/jsx';
import { moveClock } from '../../contract/control/clock.ts';
import { type Overview, showOverview } from '../../contract/control/overview.ts';
import { listRequests, sendEvent } from '../../contract/control/requests.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Action, Field } from '../parts/action.tsx';
import { Attention, BudgetsSection, LanesSection } from '../parts/standing.tsx';
import { Section, Table } from '../parts/table.tsx';
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
          <Attention of={now} nowMs={nowMs} />
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
          <LanesSection of={now} />
          <BudgetsSection of={now} nowMs={nowMs} />
        </>
      ),
    };
  },
};

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
