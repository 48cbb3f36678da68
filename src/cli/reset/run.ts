/** `rewards reset`: deletes the data of a stopped stack. */
import { findRunFile } from '../../emulator/state/run-file.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { dataFolder } from '../serve/data-folder.ts';

export const reset: Handler<{ yes?: boolean; persistTo?: string }> = async (context, options) => {
  const { runtime, settings } = context;
  const folder = dataFolder(context, options.persistTo);
  const { resetEmulator } = await import('../../emulator/create-emulator.ts');
  const { dataIn } = await import('../../emulator/state/reset-data.ts');
  const { run } = await findRunFile(runtime.cwd, settings.name);
  if (run?.dataDir === folder) {
    throw new CliError('E_DATA_IN_USE', {
      message: `Process ${run.pid} serves ${folder} at ${run.urls.events}.`,
      fix: `Stop it (Ctrl-C, or \`kill ${run.pid}\`), then reset.`,
      details: { pid: run.pid, dataDir: folder },
    });
  }
  if (dataIn(folder).length > 0 && !options.yes) await confirmed(context, folder);
  const removed = await resetEmulator(folder);
  return {
    ok: true,
    data: { dataDir: folder, removed },
    text: (style) =>
      removed.length === 0
        ? style.dim(`${folder} holds no data`)
        : `${style.green('reset')}  ${folder}; the next \`rewards serve\` begins anew`,
  };
};

async function confirmed({ runtime, settings }: Parameters<typeof reset>[0], folder: string): Promise<void> {
  const ask = settings.input ? runtime.ask : undefined;
  if (!ask)
    throw usageError(
      `${folder} would be deleted, and there is no terminal to ask at.`,
      'Add --yes to delete it.',
    );
  const answer = await ask(`Delete ledger and chain in ${folder}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError('Nothing was deleted.', 'Answer y, or add --yes.');
}
