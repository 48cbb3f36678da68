/** `rewards undo`: goes back to before the last change, and says exactly what that took back. */
import type { CommandContext } from '../machine/context.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';

export async function undo(context: CommandContext) {
  const { control } = clientFor(await resolveTarget(context), context);
  return replyResult(await control.snapshots.undo(), {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.undone),
    text: ({ undone, chain, clock, tookMs }, style) =>
      [
        ...undone.map(({ id, at, method, path, status }) =>
          [style.green('took back'), method, path, String(status), style.dim(at), ...(id ? [id] : [])].join(
            '  ',
          ),
        ),
        style.dim(`block ${chain.block}, clock ${clock.now}${clock.frozen ? ' frozen' : ''}, ${tookMs} ms`),
      ].join('\n'),
  });
}
