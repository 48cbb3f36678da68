/** Users with a wallet, the newest first, or those whose name begins as is asked. */
import { listUsers } from '../../contract/control/users.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Command, Field, Filter } from '../parts/action.tsx';
import { Moment } from '../parts/moment.tsx';
import { Section, Table } from '../parts/table.tsx';
import { Id, Text } from '../parts/text.tsx';

const SHOWN = 100;
const SHOWN_MAX = 500;

export const userAddress = (name: string) => pageAddress(`/users/${encodeURIComponent(name)}`);

export const users: ConsolePage = {
  path: '/users',
  nav: 'Users',
  async view(visit) {
    const { query, nowMs } = visit;
    const name = query.name || undefined;
    const limit = Math.min(SHOWN_MAX, Number(query.limit) || SHOWN);
    const found = (await answerOf(visit, listUsers, { query: { name, limit } })).users;
    const isFull = found.length === limit && limit < SHOWN_MAX;
    return {
      title: 'Users',
      body: (
        <>
          <Filter label="Which users">
            <Field name="name" label="begins with" value={query.name} placeholder="alice or 0x40fb" />
          </Filter>
          <Command text={`rewards users list${name === undefined ? '' : ` ${name}`}`} />
          <Section title={name === undefined ? 'Newest first' : 'By name'} live="users">
            <Table
              label="Users"
              columns={['user', 'wallet', 'since', 'requests']}
              rows={found.map(({ user, address, createdAt }) => [
                <a href={userAddress(user)}>
                  <Text of={user} />
                </a>,
                <Id of={address} />,
                <Moment at={createdAt} nowMs={nowMs} />,
                <a href={pageAddress('/requests', { user })}>requests</a>,
              ])}
              empty={
                name === undefined ? 'Nobody was rewarded yet.' : 'Nobody with a wallet has such a name.'
              }
              more={isFull ? { href: pageAddress('/users', { name, limit: String(SHOWN_MAX) }) } : undefined}
            />
          </Section>
        </>
      ),
    };
  },
};
