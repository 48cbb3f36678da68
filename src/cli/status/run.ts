/** `rewards status`: which parts of the stack work. */

import { askParts, type Part } from '../around/status.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf } from '../machine/errors.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const status: Handler<Record<string, never>> = async (context: CommandContext) => {
  const target = await resolveTarget(context);
  const client = clientFor(target, context);
  const parts = await askParts({ client, run: target.run, timeoutMs: context.settings.timeout });
  const { run } = target;
  const works = parts.every((part) => part.works);
  const data = {
    works,
    url: target.urls.events,
    stack: run
      ? { name: run.name ?? null, pid: run.pid, program: run.program, dataDir: run.dataDir, urls: run.urls }
      : null,
    parts,
  };
  const text = (style: Style) => partsText(data, style);
  if (works) return { ok: true, data, text };
  const failing = parts.filter((part) => !part.works);
  const error = problemOf('E_UNHEALTHY', {
    message: failing.map(({ part, detail }) => `${part}: ${detail}`).join('\n'),
    details: { parts: failing },
  });
  return { ok: false, error, data, text };
};

function partsText(
  { url, stack, parts }: { url: string; stack: { pid: number; name: string | null } | null; parts: Part[] },
  style: Style,
): string {
  const who = stack ? style.dim(`process ${stack.pid}${stack.name ? `, ${stack.name}` : ''}`) : '';
  const rows = parts.map(({ part, works, detail }) =>
    [part.padEnd(9), works ? style.green('works') : style.red('fails'), style.dim(detail)].join('  '),
  );
  return [[url, who].filter(Boolean).join('  '), ...rows].join('\n');
}
