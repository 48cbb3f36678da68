/** The databases that a service is tested on: a SQLite file always, Postgres where there is one. */
import { postgresMissing, startPostgres } from './postgres.ts';

export interface TestDatabase {
  /** Undefined: SQLite, in the service's own folder. */
  databaseUrl?: string;
  stop(): Promise<void>;
}

/** For `describe.each`; a missing Postgres is said once by whoever starts the tests, or fails where it is required. */
export const databaseKinds: { kind: 'sqlite' | 'postgres'; open: () => Promise<TestDatabase> }[] = [
  { kind: 'sqlite', open: async () => ({ stop: async () => {} }) },
  ...(postgresMissing()
    ? []
    : [
        {
          kind: 'postgres' as const,
          async open() {
            const { url, stop } = await startPostgres();
            return { databaseUrl: url, stop };
          },
        },
      ]),
];
