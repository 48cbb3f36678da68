/** How far long work is: a bar with rate and remaining time on a terminal, elsewhere a line every ten seconds. */
import { formatDuration } from '../../lib/duration.ts';
import { paceOf, paceText, type Work } from '../../lib/pace.ts';
import { every, stopwatch } from '../../lib/timers.ts';
import type { CommandContext } from '../machine/context.ts';
import type { Style } from './style.ts';

export interface Progress {
  /** `of` is undefined while the total is unknown; without `done`, only the time that the phase takes is told. */
  show(phase: string, done?: number, of?: number): void;
  /** Lets `write` print a line where the bar stands, and draws the bar again below it. */
  above(write: () => void): void;
  /** Removes the bar and ends the lines; `show` begins anew. */
  clear(): void;
  /** False where it tells lines, or nothing. */
  isBar: boolean;
}

/** Real time, but in tests. */
export interface ProgressTime {
  /** Starts to measure; the function that it returns tells the milliseconds since then. */
  stopwatch: () => () => number;
  /** Calls `work` every `ms` until the returned function is called. */
  every: (ms: number, work: () => void) => () => void;
}

/** Redrawn ten times a second, which looks continuous. */
const REDRAW_MS = 100;
/** The elapsed time goes on where nothing else is told. */
const TICK_MS = 1_000;
/** Also how long a run has to last before it tells its first line. */
const LINE_EVERY_MS = 10_000;

type Context = Pick<CommandContext, 'settings' | 'style'> & {
  runtime: Pick<CommandContext['runtime'], 'stderr' | 'env'>;
};

/** Writes to stderr, and with --quiet nothing. A terminal of CI or with TERM=dumb gets lines. */
export function createProgress(context: Context, time: ProgressTime = { stopwatch, every }): Progress {
  const { stderr, env } = context.runtime;
  if (context.settings.quiet) return { show() {}, above: (write) => write(), clear() {}, isBar: false };
  const isBar = stderr.isTTY && env.TERM !== 'dumb' && !env.CI;
  const phase = createPhase(time);
  let sinceDrawnMs: (() => number) | undefined;
  let stopTicks: (() => void) | undefined;
  const draw = () => {
    const now = phase.now();
    if (!now) return;
    sinceDrawnMs = time.stopwatch();
    const columns = stderr.columns ?? Number.POSITIVE_INFINITY;
    stderr.write(
      isBar ? `${ERASE}${barText(now, { columns, style: context.style.stderr })}` : `${lineText(now)}\n`,
    );
  };
  const erase = () => {
    if (isBar && sinceDrawnMs) stderr.write(ERASE);
    sinceDrawnMs = undefined;
  };
  return {
    isBar,
    show(name, done, of) {
      const isNew = phase.set(name, done, of);
      stopTicks ??= time.every(isBar ? TICK_MS : LINE_EVERY_MS, draw);
      if (!isBar) return;
      const isOver = of !== undefined && done === of;
      if (isNew || isOver || !sinceDrawnMs || sinceDrawnMs() >= REDRAW_MS) draw();
    },
    above(write) {
      erase();
      write();
      if (isBar) draw();
    },
    clear() {
      stopTicks?.();
      stopTicks = undefined;
      erase();
      phase.end();
    },
  };
}

/** A context whose lines on stderr are printed above the bar. */
export function asideOf<C extends CommandContext>(progress: Progress, context: C): C {
  const { stderr } = context.runtime;
  const write = { value: (text: string) => progress.above(() => stderr.write(text)) };
  return { ...context, runtime: { ...context.runtime, stderr: Object.create(stderr, { write }) } };
}

const ERASE = '\r\u001b[2K';

interface Now extends Omit<Work, 'done'> {
  phase: string;
  done: number | undefined;
}

/** What is under way, and since when: of a phase that starts over, from its new beginning. */
function createPhase(time: ProgressTime) {
  let current: (Omit<Now, 'elapsedMs'> & { elapsedMs: () => number }) | undefined;
  return {
    /** Whether it has begun with this. */
    set(phase: string, done: number | undefined, of: number | undefined): boolean {
      const isNew = !current || current.phase !== phase || (done ?? 0) < (current.done ?? 0);
      if (isNew || !current) current = { phase, from: done ?? 0, done, of, elapsedMs: time.stopwatch() };
      else current = { ...current, done, of };
      return isNew;
    },
    now: (): Now | undefined => current && { ...current, elapsedMs: current.elapsedMs() },
    end(): void {
      current = undefined;
    },
  };
}

const BAR_MAX = 30;
const BAR_MIN = 6;
/** Phases stand in one column where there is room for it. */
const NAME_WIDTH = 12;
const WIDE = 60;

/** One line that does not fill the terminal: some break such a line, and then it cannot be drawn again in place. */
function barText(now: Now, { columns, style }: { columns: number; style: Style }): string {
  const name = columns < WIDE ? now.phase : now.phase.padEnd(NAME_WIDTH);
  const { counted, rate, time } = factsOf(now);
  const room = columns - 1 - name.length;
  const textOf = (parts: readonly (string | undefined)[]) =>
    parts
      .filter((part) => part !== undefined)
      .map((part) => ` ${part}`)
      .join('');
  const hasBar = now.of !== undefined;
  const reserved = hasBar ? BAR_MIN + 1 : 0;
  // What is left out first says least.
  const facts =
    [textOf([counted, rate, time]), textOf([counted, time])].find((text) => text.length + reserved <= room) ??
    textOf([counted ?? time]);
  const width = Math.min(BAR_MAX, room - facts.length - 1);
  if (facts.length > room) return now.phase.slice(0, Math.max(0, columns - 1));
  if (!hasBar || width < BAR_MIN) return `${name}${facts}`;
  const filled = Math.round(shareOf(now) * width);
  const bar = `${style.green('█'.repeat(filled))}${style.dim('░'.repeat(width - filled))}`;
  return `${name} ${bar}${facts}`;
}

/** `sending: 12000/50000 (24 %), 1200/s, 32s left`; `restoring: 20s so far`. */
function lineText(now: Now): string {
  const { counted, rate, time } = factsOf(now);
  const share = now.of === undefined ? '' : ` (${Math.floor(shareOf(now) * 100)} %)`;
  const facts = [counted === undefined ? undefined : `${counted}${share}`, rate, time];
  return `${now.phase}: ${facts.filter((fact) => fact !== undefined).join(', ')}`;
}

/** Of what there was to do when it began: the numbers of blocks begin anywhere. */
const shareOf = ({ from, done = from, of = done }: Now) =>
  of <= from ? 1 : Math.min(1, (done - from) / (of - from));

/** `time`: how much is left, or for how long it goes on already where nobody knows. */
function factsOf(now: Now) {
  const { done, of } = now;
  const { perSecond, remainingMs } = paceOf({ ...now, done: done ?? 0 });
  const counted = of === undefined ? done : `${done}/${of}`;
  return {
    counted: counted === undefined ? undefined : String(counted),
    rate: perSecond === undefined ? undefined : paceText(perSecond),
    time: timeText(now, remainingMs),
  };
}

function timeText({ done, of, elapsedMs }: Now, remainingMs: number | undefined): string | undefined {
  if (done !== undefined && done === of) return undefined;
  if (remainingMs !== undefined) return `${formatDuration(Math.max(1_000, remainingMs))} left`;
  if (elapsedMs < 1_000) return undefined;
  return `${formatDuration(Math.floor(elapsedMs / 1_000) * 1_000)} so far`;
}
