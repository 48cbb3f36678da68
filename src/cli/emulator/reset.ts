/** `rewards reset`: brings a running stack back to its seed files in place, or deletes the data of a stopped one. */
import { resetStack } from '../../contract/control/snapshots.ts';
import { findRunFile, type RunInfo } from '../../stack/run-file.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { dataFolder } from '../run/data-folder.ts';
import { replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';

interface ResetOptions {
  yes?: boolean;
  persistTo?: string;
  keep?: 'clock';
}

export const reset: Handler<ResetOptions> = async (context, options) => {
  const { runtime, settings } = context;
  const { run } = await findRunFile(runtime.cwd, settings.name);
  // A folder that is named is that of a stopped stack, unless it is the running one's.
  const folder = dataFolder(context, options.persistTo);
  if (run && (options.persistTo === undefined || run.dataDir === folder))
    return resetRunning(context, run, options);
  if (options.keep !== undefined)
    throw usageError('Only a stack that runs has a clock to keep.', 'Leave --keep out.');
  const { resetEmulator } = await import('../../emulator/create-emulator.ts');
  const { dataIn } = await import('../../emulator/state/data-files.ts');
  if (dataIn(folder).length > 0 && !options.yes)
    await confirmed(context, { question: `Delete ledger and chain in ${folder}`, what: folder });
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

/** In place: what talks to the stack goes on talking to it. */
async function resetRunning(
  context: CommandContext,
  run: RunInfo,
  { yes, keep }: ResetOptions,
): Promise<CommandResult> {
  const what = `what the stack at ${run.urls.events} has`;
  if (!yes) await confirmed(context, { question: `Delete ${what}, and begin anew`, what });
  const call = await callFor(context);
  const reply = await call(resetStack, { body: keep ? { keep: [keep] } : {} });
  return replyResult(reply, {
    text: ({ brands, users, clock, tookMs }, style) =>
      `${style.green('reset')}  ${run.urls.events}  ${style.dim(`${brands} brands, ${users} users, clock ${clock}, ${tookMs} ms`)}`,
  });
}

async function confirmed(
  { runtime, settings }: CommandContext,
  { question, what }: { question: string; what: string },
): Promise<void> {
  const ask = settings.input ? runtime.ask : undefined;
  if (!ask)
    throw usageError(
      `${what} would be deleted, and there is no terminal to ask at.`,
      'Add --yes to delete it.',
    );
  const answer = await ask(`${question}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError('Nothing was deleted.', 'Answer y, or add --yes.');
}
