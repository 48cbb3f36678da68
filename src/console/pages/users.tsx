/** Users with a wallet, the newest first, or those of a brand and those whose name begins as is asked. */
import { listUsers } from '../../contract/control/users.ts';
import { shellLine, shellOptions } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress, rowsAsked } from '../page.ts';
import { Command, Field, Filter } from '../parts/action.tsx';
import { Moment } from '../parts/moment.tsx';
import { Section, Table } from '../parts/table.tsx';
import { Id, Text } from '../parts/text.tsx';

const SIZE = { first: 100, most: 500 };

export const userAddress = (name: string) => pageAddress(`/users/${encodeURIComponent(name)}`);

export const users: ConsolePage = {
  path: '/users',
  nav: 'Users',
  async view(visit) {
    const { query, nowMs } = visit;
    const wanted = { name: query.name || undefined, brand: query.brand || undefined };
    const after = query.after || undefined;
    const limit = rowsAsked(query.limit, SIZE);
    const found = await answerOf(visit, listUsers, { query: { ...wanted, after, limit } });
    const last = found.users.at(-1)?.user;
    const next = pageAddress('/users', { ...wanted, limit: query.limit, after: last });
    return {
      title: 'Users',
      body: (
        <>
          <Filter label="Which users">
            <Field name="name" label="begins with" value={query.name} placeholder="alice or 0x40fb" />
            <Field name="brand" label="of brand" value={query.brand} placeholder="id or domain" />
          </Filter>
          <Command text={commandOf({ ...wanted, after })} />
          <Section title={titleOf(wanted)} live="users">
            {after !== undefined && (
              <p>
                After <Text of={after} />. <a href={pageAddress('/users', wanted)}>From the beginning</a>
              </p>
            )}
            <Table
              label="Users"
              columns={['user', 'wallet', 'since', 'requests']}
              rows={found.users.map(({ user, address, createdAt }) => [
                <a href={userAddress(user)}>
                  <Text of={user} />
                </a>,
                <Id of={address} />,
                <Moment at={createdAt} nowMs={nowMs} />,
                <a href={pageAddress('/requests', { user })}>requests</a>,
              ])}
              empty={emptyOf({ ...wanted, after })}
              more={found.more ? { href: next, label: 'Next users' } : undefined}
            />
          </Section>
        </>
      ),
    };
  },
};

interface Wanted {
  name: string | undefined;
  brand: string | undefined;
  after?: string | undefined;
}

const titleOf = ({ name, brand }: Wanted) =>
  name === undefined && brand === undefined ? 'Newest first' : 'By name';

const commandOf = ({ name, ...options }: Wanted) =>
  `rewards users list${name === undefined ? '' : shellLine` ${name}`}${shellOptions({ ...options })}`;

function emptyOf({ name, brand, after }: Wanted): string {
  if (after !== undefined) return 'Nobody comes after.';
  if (name === undefined && brand === undefined) return 'Nobody was rewarded yet.';
  return 'Nobody with a wallet has such a name, or has claimed an event of that brand.';
}
