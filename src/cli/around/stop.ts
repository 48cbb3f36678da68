/** `rewards stop`: ends the stacks that run here. */
import { formatDuration } from '../../lib/duration.ts';
import { endRun, type RunInfo, runsHere } from '../../stack/run-file.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { theRunHere } from '../service/target.ts';

export const stop: Handler<{ all?: boolean }> = async (context, { all = false }) => {
  const { settings, runtime, about } = context;
  if (all && settings.name !== undefined) {
    throw usageError('--all and --name exclude each other.', 'Leave one of them out.');
  }
  const runs = all ? await runsHere(runtime.cwd) : [await theRunHere(context)];
  if (!all) about.target = runs[0]?.urls.events ?? null;
  const stopped = await Promise.all(runs.map((run) => ended(context, run)));
  const left = stopped.filter(({ gone }) => !gone);
  if (left.length > 0) {
    throw new CliError('E_TIMEOUT', {
      message: `Process ${left.map(({ pid }) => pid).join(', ')} has not ended within ${formatDuration(settings.timeout)}.`,
      fix: 'Allow more with --timeout, or end it with `kill -KILL <pid>`: its chain ends with it, and its data is kept.',
      details: { stopped },
    });
  }
  return {
    ok: true,
    data: { stopped },
    text: (style) =>
      stopped.length === 0
        ? style.dim('nothing runs here')
        : stopped
            .map(({ name, url, pid }) =>
              [style.green('stopped'), name ?? url, style.dim(`process ${pid}`)].join('  '),
            )
            .join('\n'),
  };
};

const ended = async ({ settings }: CommandContext, run: RunInfo) => ({
  name: run.name ?? null,
  pid: run.pid,
  url: run.urls.events,
  dataDir: run.dataDir,
  gone: await endRun(run, settings.timeout),
});
