/** What scenarios and tests need of a stack of their own; who starts one for them, they are told. */
import type { Log } from '../lib/log.ts';
import type { Ready } from './ready.ts';

export interface FreshStackOptions {
  /** Absolute paths; empty: the packaged demo. */
  seedFiles: string[];
  clockStartMs?: number | undefined;
  frozen: boolean;
  errorDialect?: 'current' | 'earlier' | undefined;
  /** An empty Postgres database in place of a file. */
  databaseUrl?: string | undefined;
  log: Log;
}

export type StartFreshStack = (
  options: FreshStackOptions,
) => Promise<{ ready: Ready; stop: () => Promise<void> }>;
