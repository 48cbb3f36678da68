/** `rewards undo`: goes back to before the last change, and says exactly what that took back. */
import * as snapshots from '../../contract/control/snapshots.ts';
import type { CommandContext } from '../machine/context.ts';
import { replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';

export async function undo(context: CommandContext) {
  const call = await callFor(context);
  return replyResult(await call(snapshots.undo), {
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
