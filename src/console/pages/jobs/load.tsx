/** Load tests of this stack: started here, and those that were. */
import type { Child } from 'hono/jsx';
import { listBrands } from '../../../contract/control/brands.ts';
import { listJobs, startLoad } from '../../../contract/control/jobs.ts';
import { loadLimits } from '../../../lib/load-limits.ts';
import { answerOf, type ConsolePage } from '../../page.ts';
import { Action, Field } from '../../parts/action.tsx';
import { Section } from '../../parts/table.tsx';
import { JobTable } from './job-rows.tsx';

export const load: ConsolePage = {
  path: '/load',
  nav: 'Load',
  async view(visit) {
    const [{ jobs }, { brands }] = await Promise.all([
      answerOf(visit, listJobs),
      answerOf(visit, listBrands),
    ]);
    const ids = brands.map(({ brandId }) => brandId);
    return {
      title: 'Load',
      body: (
        <>
          <p>
            A test runs in a process of its own, and compares every answer with the limits. What it sends is
            paid on this stack: save a snapshot before, and go back to it afterwards.
          </p>
          <Section title="Tests" live="jobs">
            <JobTable jobs={jobs.filter(({ kind }) => kind === 'load')} empty="None has been started yet." />
          </Section>
          <Section title="Send events">
            <p class="quiet">
              Every user sends the same event again and again: one of them is rewarded, and the chain has what
              was answered.
            </p>
            <Action
              endpoint={startLoad}
              body={{ test: 'events' }}
              label="Start"
              command={`rewards load events [--event {event}]${PACE}`}
              then="/_rewards/console/jobs/{id}"
            >
              <Field name="event" label="event" value="account_creation" />
              <HowMany perUser="10" brands={ids} />
            </Action>
          </Section>
          <Section title="Call the relay">
            <p class="quiet">
              Calls of fresh users: exactly as many pass as the limit says. The clock is moved to the end of
              the windows, where all pass again.
            </p>
            <Action
              endpoint={startLoad}
              body={{ test: 'relay' }}
              label="Start"
              command={`rewards load relay${PACE}`}
              then="/_rewards/console/jobs/{id}"
            >
              <HowMany perUser="40" brands={ids} />
              <Field
                name="oneAddress"
                as="boolean"
                label="from one address"
                value="false"
                options={['false', 'true']}
                help="tests the limit of the address"
              />
              <Field
                name="reset"
                as="boolean"
                label="move the clock"
                value="true"
                options={['true', 'false']}
              />
            </Action>
          </Section>
        </>
      ),
    };
  },
};

const PACE =
  ' --users {users} --per-user {perUser} [--concurrency {concurrency}] [--rate {rate}] [--duration {duration}] [--threshold {thresholds}] [--brand {brand}]';

const HowMany = ({ perUser, brands }: { perUser: string; brands: readonly string[] }): Child => (
  <>
    <Field
      name="users"
      as="number"
      label="users"
      value={String(loadLimits.usersDefault)}
      help={`at most ${loadLimits.usersMax}`}
      required
    />
    <Field
      name="perUser"
      as="number"
      label="of each"
      value={perUser}
      help={`at most ${loadLimits.perUserMax}`}
      required
    />
    <Field
      name="concurrency"
      as="number"
      label="at once"
      placeholder={String(loadLimits.concurrencyDefault)}
    />
    <Field name="rate" as="number" label="or a second" placeholder="such as 100" />
    <Field name="duration" label="no longer than" placeholder="such as 30s" />
    <Field name="thresholds" as="list" label="thresholds" placeholder="p95<200ms, over_admission==0" />
    {brands.length > 1 && <Field name="brand" label="brand" value={brands[0]} options={brands} />}
  </>
);
