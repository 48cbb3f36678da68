/** The terminal while the view is up: a footer below what is written, keys, and everything as it was at the end of it. */
import { delay, stopwatch, turnOfEventLoop } from '../../lib/timers.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { widthOf } from '../terminal/wrap.ts';
import type { OnInput } from './live-view.tsx';
import { loadLiveView } from './load-live-view.ts';

type StreamName = 'stdout' | 'stderr';

export interface Screen {
  /** Draws the footer of `lines` again. */
  redraw(): void;
  /** Whether it is drawn: not while the program is stopped, or in the background. */
  isUp(): boolean;
  /** Comes back where the program is in front again without a signal that said so. */
  lookAgain(): void;
  /** Leaves the terminal as it would be without the footer, with all that was written on it. */
  close(): void;
}

interface Options {
  lines: (size: { columns: number; rows: number }) => string[];
  onInput: OnInput;
  /** When it cannot be drawn any more; it is closed by then. */
  onFailure: (error: unknown) => void;
  /** Terminals that break long lines anew when they get narrower need more of them erased. */
  breaksAnew: boolean;
}

/** What is written within so long goes above the footer at once: a busy service writes more lines than a screen has. */
const GATHERED_MS = 50;
/** Ctrl-Z does not stop a program whose shell does not control jobs: after so long it goes on. */
const STOPPED_WITHIN_MS = 500;

/** Loads what draws, and begins to draw. Rejects where it cannot be loaded, with the terminal untouched. */
export async function openScreen(terminal: Terminal, options: Options): Promise<Screen> {
  const { mount } = await loadLiveView();
  let isClosed = false;
  let isStopping = false;
  let up: ReturnType<typeof takeTerminal> | undefined;
  const enter = () => {
    up = takeTerminal({ ...options, terminal, mount }, { onInput: typed, onFailure: fail });
  };

  const leave = (how: { erase: boolean }) => {
    const before = up;
    up = undefined;
    before?.leave(how);
  };
  const comeBack = () => {
    if (!isClosed && !isStopping && !up && terminal.isInFront()) enter();
  };
  // What has ended clears up at its next turn: that would undo what is done at once.
  const soon = (work: () => void) => void turnOfEventLoop().then(work);
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    leave({ erase: true });
    for (const one of unwatch) one();
  };
  function fail(error: unknown): void {
    close();
    options.onFailure(error);
  }
  function stop(): void {
    if (isStopping) return;
    isStopping = true;
    leave({ erase: true });
    soon(() => {
      // The next one is for the system, which stops the program.
      offPause();
      terminal.sendToAll('SIGTSTP');
      void delay(STOPPED_WITHIN_MS).then(goOn);
    });
  }
  function goOn(): void {
    if (isStopping && !isClosed) offPause = terminal.on('pause', stop);
    isStopping = false;
    soon(comeBack);
  }
  function typed(name: string, isRepeated: boolean): void {
    if (name === 'ctrl-z') stop();
    else if (name === 'ctrl-c') terminal.sendToAll('SIGINT');
    else if (name === 'ctrl-\\') terminal.sendToAll('SIGQUIT');
    else options.onInput(name, isRepeated);
  }
  let offPause = terminal.on('pause', stop);
  const unwatch = [
    () => offPause(),
    terminal.on('exit', close),
    terminal.on('continue', () => {
      // Stopped by a signal that nobody hears: the shell has written where the footer was.
      if (up) leave({ erase: false });
      goOn();
    }),
  ];
  enter();
  return { redraw: () => up?.draw(), isUp: () => up !== undefined, lookAgain: comeBack, close };
}

interface Taken extends Pick<Options, 'lines' | 'breaksAnew'> {
  terminal: Terminal;
  mount: Awaited<ReturnType<typeof loadLiveView>>['mount'];
}

/** Draws, and takes what is written and typed, until `leave`. */
function takeTerminal(
  { terminal, mount, lines, breaksAnew }: Taken,
  on: { onInput: OnInput; onFailure: (error: unknown) => void },
) {
  let drawn = { lines: [] as string[], columns: 0 };
  // Before Ink hears of it, and erases as many lines as it has drawn.
  const unwatch = terminal.on('resize', () => {
    const { columns } = terminal.size();
    if (breaksAnew && columns < drawn.columns) view.eraseAlso(rowsAdded(drawn.lines, columns));
    draw();
  });
  const view = mount(terminal.streams, on);
  const gathering = createGathering(view.above);
  const restore = terminal.divert(gathering.write);
  function draw() {
    const size = terminal.size();
    drawn = { lines: lines(size), columns: size.columns };
    view.draw(drawn.lines, size.columns);
  }
  draw();
  return {
    draw,
    leave(how: { erase: boolean }) {
      unwatch();
      gathering.flush();
      view.close(how);
      restore();
      for (const [to, text] of gathering.begun()) terminal.streams[to].write(text);
    },
  };
}

/** How many more rows these lines take on a terminal that has become narrower, and breaks them. */
const rowsAdded = (lines: readonly string[], columns: number) =>
  lines.reduce((rows, line) => rows + Math.max(0, Math.ceil(widthOf(line) / columns) - 1), 0);

/** Gathers what is written, and passes on whole lines in their order. */
function createGathering(pass: (to: StreamName, text: string) => void) {
  let whole: { to: StreamName; text: string }[] = [];
  const begun: Record<StreamName, string> = { stdout: '', stderr: '' };
  let isWaiting = false;
  let sinceMs = stopwatch();
  const flush = () => {
    isWaiting = false;
    sinceMs = stopwatch();
    const passed = whole;
    whole = [];
    for (const { to, text } of passed) pass(to, text);
  };
  return {
    write(to: StreamName, text: string): void {
      const all = begun[to] + text;
      const end = all.lastIndexOf('\n') + 1;
      begun[to] = all.slice(end);
      if (end === 0) return;
      const last = whole.at(-1);
      if (last?.to === to) last.text += all.slice(0, end);
      else whole.push({ to, text: all.slice(0, end) });
      if (isWaiting) return;
      isWaiting = true;
      void delay(Math.max(0, GATHERED_MS - sinceMs())).then(() => isWaiting && flush());
    },
    flush,
    /** What is no whole line yet. */
    begun: () => (['stdout', 'stderr'] as const).map((to) => [to, begun[to]] as const),
  };
}
