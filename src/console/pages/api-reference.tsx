/** The control API, endpoint by endpoint: what the pages of the console ask, and everybody else can. */
import { controlHostContract } from '../../contract/control/host.ts';
import type { ConsolePage } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { Section, Table } from '../parts/table.tsx';

export const apiReference: ConsolePage = {
  path: '/api',
  nav: 'API',
  async view() {
    const { tags, endpoints } = controlHostContract;
    return {
      title: 'API reference',
      body: (
        <>
          <p>
            This console asks the control API, as every program with its token may:{' '}
            <a href="/_rewards/docs">reference</a>, <a href="/_rewards/openapi.json">OpenAPI document</a>.{' '}
            <a href="/">The service's own hosts</a> have references of theirs.
          </p>
          <p>
            <Command text="rewards env" />
          </p>
          {tags.map(({ name, description }) => (
            <Section title={name}>
              <p class="quiet">{description}</p>
              <Table
                label={name}
                columns={['endpoint', 'what it does']}
                rows={endpoints
                  .filter(({ tag }) => tag === name)
                  .map(({ id, method, path, summary }) => [
                    <a href={`/_rewards/docs#${id}`}>
                      <code>{`${method.toUpperCase()} ${path}`}</code>
                    </a>,
                    summary,
                  ])}
                empty="none"
              />
            </Section>
          ))}
        </>
      ),
    };
  },
};
