/** The latest requests, with filters that are in the page's address. */
import { listRequests, requestHosts } from '../../contract/control/requests.ts';
import { shellOptions } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, moreRows, pageAddress, rowsAsked } from '../page.ts';
import { Command, Field, Filter } from '../parts/action.tsx';
import { Section } from '../parts/table.tsx';
import { requestRows } from './request-rows.tsx';

const FILTERS = ['user', 'decision', 'status', 'host', 'path', 'brand'] as const;
const SIZE = { first: 50, most: 500 };

export const requests: ConsolePage = {
  path: '/requests',
  nav: 'Requests',
  async view(visit) {
    const { query } = visit;
    const wanted = Object.fromEntries(FILTERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
    const limit = rowsAsked(query.limit, SIZE);
    const found = (await answerOf(visit, listRequests, { query: { ...wanted, limit } })).requests;
    const list = { count: found.length, limit, most: SIZE.most };
    return {
      title: 'Requests',
      body: (
        <>
          <Filter label="Which requests">
            <Field name="user" label="user" value={query.user} placeholder="e-mail or address" />
            <Field name="decision" label="decision" value={query.decision} placeholder="rewarded, cooldown" />
            <Field name="status" label="status" value={query.status} placeholder="429 or 4xx" />
            <Field name="host" label="host" value={query.host ?? ''} options={['', ...requestHosts]} />
            <Field name="path" label="path" value={query.path} />
          </Filter>
          <Command text={`rewards requests list${shellOptions(wanted)}`} />
          <Section title="Newest first" live="requests">
            {requestRows(
              found,
              visit,
              moreRows(list, {
                href: (most) => pageAddress('/requests', { ...wanted, limit: most }),
                others: 'The filter finds older ones; `rewards requests tail` shows each as it comes.',
              }),
            )}
          </Section>
        </>
      ),
    };
  },
};
