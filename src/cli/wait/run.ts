/** `rewards wait`: looks again and again until every condition holds. */
import { formatDuration } from '../../lib/duration.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import { type Condition, parseCondition } from '../around/wait.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';

/** Quick enough for somebody who watches, and few enough for the service. */
const LOOK_EVERY_MS = 100;

export const wait: Handler<{ for?: string[] }> = async (context, { for: wishes = ['ready'] }) => {
  const conditions = wishes.map((text) => ({ text, look: parseCondition(text) }));
  const elapsedMs = stopwatch();
  const met: { condition: string; seen: string }[] = [];
  for (const { text, look } of conditions) {
    met.push({ condition: text, seen: await until(context, { text, look, elapsedMs }) });
  }
  const waitedMs = Math.round(elapsedMs());
  return {
    ok: true,
    data: { conditions: met, waitedMs },
    text: (style) =>
      met.map(({ condition, seen }) => `${style.green(condition)}  ${style.dim(seen)}`).join('\n'),
  };
};

/** What was seen when the condition held. Throws E_TIMEOUT with what was seen last. */
async function until(
  context: CommandContext,
  { text, look, elapsedMs }: { text: string; look: Condition; elapsedMs: () => number },
): Promise<string> {
  const { timeout } = context.settings;
  for (;;) {
    // The notes of one look are enough.
    const { holds, seen } = await look({ ...context, note: () => {} });
    if (holds) return seen;
    if (elapsedMs() >= timeout) {
      throw new CliError('E_TIMEOUT', {
        message: `${text} did not hold within ${formatDuration(timeout)}; last seen: ${seen}.`,
        details: { condition: text, seen },
      });
    }
    await delay(Math.min(LOOK_EVERY_MS, Math.max(1, timeout - elapsedMs())));
  }
}
