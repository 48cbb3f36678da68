/** One snapshot, and what is different since. */
import { diffSnapshots, restoreSnapshot, showSnapshot } from '../../contract/control/snapshots.ts';
import { formatDuration } from '../../lib/duration.ts';
import { shellLine } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage } from '../page.ts';
import { Action, Command } from '../parts/action.tsx';
import { ExactMoment } from '../parts/moment.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';

export const snapshot: ConsolePage = {
  path: '/time/snapshots/:name',
  async view(visit) {
    const name = visit.params.name ?? '';
    const [shown, diff] = await Promise.all([
      answerOf(visit, showSnapshot, { path: { name } }),
      answerOf(visit, diffSnapshots, { path: { name }, query: {} }),
    ]);
    return {
      title: `Snapshot ${name}`,
      body: (
        <>
          <Facts
            of={[
              ['its clock', <ExactMoment at={shown.clock.nowMs} nowMs={visit.nowMs} />],
              ['taken at (by this machine)', shown.takenAt],
              ['block', String(shown.chain.block)],
              ['note', <Text of={shown.note} />],
              ['file', <Text of={shown.file} />],
            ]}
          />
          <Action
            endpoint={restoreSnapshot}
            body={{ name }}
            label="Restore"
            command={shellLine`rewards snapshot restore ${name}`}
            confirm={`Go back to ${name}? What happened since is gone, unless a snapshot has it.`}
            then="/_rewards/console/time"
          />
          <Section title="Different since">
            <p>
              <Command text={shellLine`rewards snapshot diff ${name}`} />
            </p>
            {diff.isSame ? (
              <p class="quiet">nothing</p>
            ) : (
              <ul>
                {diff.lines.map((line) => (
                  <li>
                    <Text of={line} />
                  </li>
                ))}
                {diff.blocks !== 0 && <li>{diff.blocks} blocks</li>}
                {diff.clockMs !== 0 && <li>{formatDuration(Math.abs(diff.clockMs))} on the clock</li>}
              </ul>
            )}
            <Table
              label="RWT by user"
              columns={['user', { name: 'RWT', isNumber: true }]}
              rows={diff.users.map(({ user, rwt }) => [
                <Text of={user} />,
                rwt > 0 ? `+${rwt}` : String(rwt),
              ])}
              empty="No user has more or less RWT."
            />
            <Table
              label="Rows by table"
              columns={[
                'table',
                { name: 'added', isNumber: true },
                { name: 'removed', isNumber: true },
                { name: 'changed', isNumber: true },
              ]}
              rows={diff.tables.map(({ table, added, removed, changed }) => [table, added, removed, changed])}
              empty="No table is different."
            />
          </Section>
        </>
      ),
    };
  },
};
