/** Scenarios of the project: run here, and recorded from here on. */
import type { Child } from 'hono/jsx';
import {
  listJobs,
  listScenarios,
  SCENARIO_FILES_MAX,
  type ScenarioList,
  startScenarios,
} from '../../../contract/control/jobs.ts';
import { listRequests } from '../../../contract/control/requests.ts';
import { shellLine } from '../../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, PageRefusal, pageAddress, type Visit } from '../../page.ts';
import { Action, Command } from '../../parts/action.tsx';
import { Section, Table } from '../../parts/table.tsx';
import { State, Text } from '../../parts/text.tsx';
import { JobTable } from './job-rows.tsx';

export const scenarios: ConsolePage = {
  path: '/scenarios',
  nav: 'Scenarios',
  async view(visit) {
    const [found, { jobs }, { requests }] = await Promise.all([
      foundBy(visit),
      answerOf(visit, listJobs),
      answerOf(visit, listRequests, { query: { limit: 1 } }),
    ]);
    if (found instanceof PageRefusal)
      return { title: 'Scenarios', body: <p class="notice">{found.message}</p> };
    const files = found.scenarios.map(({ file }) => file);
    return {
      title: 'Scenarios',
      body: (
        <>
          <Section title="Runs" live="jobs">
            <JobTable
              jobs={jobs.filter(({ kind }) => kind === 'scenarios')}
              empty="None has been started yet."
            />
          </Section>
          <Section title="Record">
            <p>
              What is sent to this stack, as a scenario: from the <a href={recordingAddress()}>beginning</a>,
              or <a href={recordingAddress(requests[0]?.id ?? 'none')}>from here on</a>.
            </p>
            <Command text="rewards scenario record scenarios/bug.yaml" />
          </Section>
          <Section title="Files">
            {files.length > 0 && files.length <= SCENARIO_FILES_MAX && (
              <Action
                endpoint={startScenarios}
                body={{ files }}
                label={`Run all ${files.length}`}
                command="rewards scenario run"
                then="/_rewards/console/jobs/{id}"
              />
            )}
            <Files of={found.scenarios} />
          </Section>
          {found.problems.length > 0 && (
            <Section title="Files with problems">
              <Table
                label="Problems"
                columns={['file', { name: 'line', isNumber: true }, 'what is wrong']}
                rows={found.problems.map(({ file, line, message }) => [
                  <Text of={file} />,
                  line,
                  <State is="bad">
                    <Text of={message} />
                  </State>,
                ])}
                empty="None."
              />
              <Command text="rewards scenario lint" />
            </Section>
          )}
        </>
      ),
    };
  },
};

/** A stack inside of another program has none, and says so. */
const foundBy = (visit: Visit) =>
  answerOf(visit, listScenarios).catch((error: unknown) => {
    if (error instanceof PageRefusal && error.status === 409) return error;
    throw error;
  });

/** `after`: the newest request that does not belong to it. */
const recordingAddress = (after?: string) => pageAddress('/scenarios/recording', { after });

const Files = ({ of }: { of: ScenarioList['scenarios'] }): Child => (
  <Table
    label="Scenarios"
    columns={['name', 'tags', { name: 'steps', isNumber: true }, 'run']}
    rows={of.map(({ file, name, tags, steps }) => [
      <Text of={name} />,
      <Text of={tags.join(', ')} />,
      steps,
      <Action
        endpoint={startScenarios}
        body={{ files: [file] }}
        label="Run"
        command={shellLine`rewards scenario run ${file}`}
        then="/_rewards/console/jobs/{id}"
      />,
    ])}
    empty={
      <>
        There is no file below <code>scenarios</code>, where the stack was started. docs/scenarios.md has
        every step; a recording makes a first one.
      </>
    }
  />
);
