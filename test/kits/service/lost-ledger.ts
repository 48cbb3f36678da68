/** Production ledgers of both databases that can be copied, so that a test can go back to an old copy. */
import { cp, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { onServer, postgresMissing, startPostgres } from '../databases/databases.ts';
import { prepareLedger, sqliteLedger } from './production.ts';

export interface CopiedLedger {
  /** What REWARDS_DATABASE_URL says. */
  url: string;
  /** A copy of it as it is now; nobody may use it meanwhile. */
  copy(): Promise<string>;
  stop(): Promise<void>;
}

export const ledgerKinds: { kind: string; open: (folder: string) => Promise<CopiedLedger> }[] = [
  {
    kind: 'SQLite',
    async open(folder) {
      const url = await sqliteLedger(folder, 'ledger');
      return {
        url,
        async copy() {
          const copy = await mkdtemp(join(folder, 'copy-'));
          await cp(dirname(url.slice('sqlite:'.length)), copy, { recursive: true });
          return `sqlite:${join(copy, 'ledger.sqlite')}`;
        },
        stop: async () => {},
      };
    },
  },
  ...(postgresMissing()
    ? []
    : [
        {
          kind: 'Postgres',
          async open() {
            const { url, stop } = await startPostgres();
            const database = openPostgres(url);
            await prepareLedger(database);
            await database.close();
            const copies: string[] = [];
            return {
              url,
              async copy() {
                const { pathname } = new URL(url);
                const copied = new URL(url);
                copied.pathname = `${pathname}_copy${copies.length}`;
                const server = new URL(url);
                server.pathname = '/postgres';
                await onServer(
                  server.href,
                  `create database ${copied.pathname.slice(1)} template ${pathname.slice(1)}`,
                );
                copies.push(copied.href);
                return copied.href;
              },
              async stop() {
                const server = new URL(url);
                server.pathname = '/postgres';
                for (const one of copies)
                  await onServer(
                    server.href,
                    `drop database if exists ${new URL(one).pathname.slice(1)} with (force)`,
                  );
                await stop();
              },
            };
          },
        },
      ]),
];
