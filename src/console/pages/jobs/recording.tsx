/** The requests of the stack as a scenario, while they come. */
import { recordScenario } from '../../../contract/control/jobs.ts';
import { answerOf, type ConsolePage, pageAddress } from '../../page.ts';
import { Command, Field, Filter } from '../../parts/action.tsx';
import { Section, Table } from '../../parts/table.tsx';
import { Body, Text } from '../../parts/text.tsx';

/** Of a stack without a request yet: everything is after it. */
const NOTHING = 'none';

export const recording: ConsolePage = {
  path: '/scenarios/recording',
  async view(visit) {
    const { title, after } = visit.query;
    const { yaml, steps, leftOut } = await answerOf(visit, recordScenario, {
      query: { ...(title && { title }), ...(after && after !== NOTHING && { after }) },
    });
    return {
      title: 'Recorded scenario',
      body: (
        <>
          <p>
            It starts on a fresh stack, so it passes where nothing had happened before its first step. Save it
            as a file below <code>scenarios</code>, and <a href={pageAddress('/scenarios')}>run it</a>.
          </p>
          <Filter label="Its name">
            <Field name="title" label="name" value={title} placeholder="what it shows" />
            {after && <Field name="after" label="after the request" value={after} />}
          </Filter>
          <Section title={steps === 1 ? '1 step' : `${steps} steps`} live="recording">
            {steps === 0 ? (
              <p class="quiet">
                No request yet that a scenario could have. Send some: this page has them as they come.
              </p>
            ) : (
              <Body of={yaml} label="The scenario" exact />
            )}
            {leftOut.length > 0 && (
              <Table
                label="Left out"
                columns={['request', 'why it is left out']}
                rows={leftOut.map(({ method, path, why }) => [
                  <Text of={`${method} ${path}`} />,
                  <Text of={why} />,
                ])}
                empty="Nothing."
              />
            )}
          </Section>
          <Command text="rewards scenario record scenarios/bug.yaml --all" />
        </>
      ),
    };
  },
};
