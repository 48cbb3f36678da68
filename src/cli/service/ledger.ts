/** Work on a production ledger, straight in its database. */
import type { OfflineLedger } from '../../production/offline/offline-ledger.ts';
import { isGiven } from '../../production/secrets.ts';
import type { CommandContext } from '../machine/context.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/shared-options.ts';

/** Whether a command that can do both means a production ledger rather than a running service. */
export const meansLedger = ({ settings }: CommandContext, options: LedgerOptions): boolean =>
  settings.target === undefined && isGiven(ledgerSecrets(options).database);

/** Opens the ledger that the options name for `work`, and closes it whatever comes of that. */
export async function withLedger<T>(
  { runtime, about }: CommandContext,
  options: LedgerOptions,
  work: (ledger: OfflineLedger) => Promise<T>,
): Promise<T> {
  // Loaded only here, since it loads the database.
  const { openOfflineLedger } = await import('../../production/offline/offline-ledger.ts');
  const { allowSqlite } = options;
  const secret = ledgerSecrets(options).database;
  const ledger = await openOfflineLedger({ cwd: runtime.cwd, secret, allowSqlite });
  about.target = ledger.where;
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}
