/** A progress bar on a terminal; prints nothing elsewhere. */
import { stopwatch } from '../../lib/timers.ts';
import type { CommandContext } from '../machine/context.ts';

interface Progress {
  /** `of` is undefined while the total is unknown. */
  show(phase: string, done: number, of: number | undefined): void;
  /** Removes the bar. */
  clear(): void;
}

const BAR_MAX = 30;
/** Redrawn ten times a second, which looks continuous. */
const REDRAW_MS = 100;

export function createProgress({
  runtime,
  settings,
  style,
}: Pick<CommandContext, 'runtime' | 'settings' | 'style'>): Progress {
  const { stderr } = runtime;
  if (!stderr.isTTY || settings.quiet) return { show() {}, clear() {} };
  const elapsedMs = stopwatch();
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let shown = '';
  return {
    show(phase, done, of) {
      const isNew = !shown.startsWith(phase);
      if (!isNew && (of === undefined || done < of) && elapsedMs() - drawnAtMs < REDRAW_MS) return;
      drawnAtMs = elapsedMs();
      shown = `${phase} ${done}`;
      if (of === undefined) {
        stderr.write(`\r\u001b[2K${phase.padEnd(12)} ${done}`);
        return;
      }
      const [name, counted] = [phase.padEnd(12), `${done}/${of}`];
      // A line that fills the terminal is broken by some of them, and then cannot be drawn again in place.
      const room = (stderr.columns ?? Number.POSITIVE_INFINITY) - name.length - counted.length - 3;
      const width = Math.max(0, Math.min(BAR_MAX, room));
      const filled = Math.round((done / Math.max(1, of)) * width);
      const bar = `${style.stderr.green('█'.repeat(filled))}${style.stderr.dim('░'.repeat(width - filled))}`;
      stderr.write(`\r\u001b[2K${name} ${bar} ${counted}`);
    },
    clear() {
      if (shown !== '') stderr.write('\r\u001b[2K');
      shown = '';
    },
  };
}
