/** `rewards db migrate|status`: the tables of a production ledger. */

import type { Handler } from '../machine/context.ts';
import { problemOf } from '../machine/errors.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { withLedger } from '../service/ledger.ts';
import { createProgress } from '../terminal/progress.ts';

export const migrateDatabase: Handler<LedgerOptions> = async (context, options) => {
  const progress = createProgress(context);
  return withLedger(context, options, async ({ migrate }) => {
    const applied = await migrate(({ done, of }) => progress.show('migrations', done, of)).finally(
      progress.clear,
    );
    return {
      ok: true,
      data: { applied },
      text: (style) => (applied.length === 0 ? style.dim('nothing to do') : applied.join('\n')),
    };
  });
};

export const databaseStatus: Handler<LedgerOptions> = async (context, options) => {
  return withLedger(context, options, async ({ status }) => {
    const data = await status();
    const { pending, unsafe } = data;
    if (pending.length > 0) {
      const error = { ...problemOf('E_REFUSED'), message: `The database lacks ${pending.join(', ')}.` };
      return { ok: false, error: { ...error, fix: 'Run `rewards db migrate`.', details: data }, data };
    }
    const warning = unsafe.length > 0 ? `  unsafe: ${unsafe.join(', ')}` : '';
    return { ok: true, data, text: (style) => `${style.green('up to date')}${style.yellow(warning)}` };
  });
};
