/** The live view of a stack: asks it once a second, draws what it says, and does what keys say. */
import type { ControlCall, ControlReply } from '../../client/control-call.ts';
import type { LedgerEndpoint } from '../../contract/control/control-endpoint.ts';
import { showOverview } from '../../contract/control/overview.ts';
import { listRequests, type RequestSummary } from '../../contract/control/requests.ts';
import type { Clock } from '../../lib/clock.ts';
import { createWakeSignal } from '../../lib/wake-signal.ts';
import { NOTHING_WAITS, waitingText } from '../around/overview-text.ts';
import type { CommandContext, GlobalSettings, Runtime } from '../machine/context.ts';
import { type CommandResult, render } from '../machine/output.ts';
import { problemFrom } from '../machine/perform.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { mustSucceed } from '../service/control-reply.ts';
import type { Style } from '../terminal/style.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrapWords } from '../terminal/wrap.ts';
import { type FooterState, footerLines } from './footer-lines.ts';
import { type Done, explain, type Key, keys, keysText, type ViewControls } from './keys.ts';
import { openScreen, type Screen } from './screen.ts';

export interface View {
  /** Resolves when the view is over by a key, or since it could not be drawn any more. */
  ended: Promise<void>;
  close(): void;
}

interface Attached {
  terminal: Terminal;
  /** Reads; a ledger without a service answers it as well. */
  call: ControlCall<LedgerEndpoint>;
  /** Takes what keys do; without it they only read. */
  emulator?: ControlCall;
  ledger: LedgerOptions;
  /** Whether the stack is of this process: then the end of the view is the end of the stack. */
  isOwn: boolean;
}

const ASKED_EVERY_MS = 1_000;
/** A busy stack is asked more rarely: what looks at it takes this share of its time at most … */
const SHARE_MAX = 1 / 40;
/** … but it is looked at. */
const ASKED_AFTER_AT_MOST_MS = 5_000;
/** More than a footer has rows; with a filter, those among which it looks. */
const LISTED = 40;
const FILTERED = 200;

interface Seen {
  runtime: Pick<Runtime, 'env' | 'terminal'>;
  settings: Pick<GlobalSettings, 'output' | 'quiet'>;
}

/** The terminal where a person sits at one and wants to see more than lines; undefined otherwise. */
export function wantsView(
  { runtime, settings }: Seen,
  { plain = false }: { plain?: boolean },
): Terminal | undefined {
  const { env, terminal } = runtime;
  if (plain || settings.quiet || settings.output !== 'text') return undefined;
  // The last is what programs with such views are told by whoever has a screen reader.
  if (env.CI || env.TERM === 'dumb' || env.INK_SCREEN_READER === 'true') return undefined;
  if (!terminal?.isInFront()) return undefined;
  return terminal;
}

/** The first line of a terminal with a view: a screen reader's user should not have to find out. */
export const sayPlain = ({ runtime, style }: CommandContext): void =>
  runtime.stdout.write(`${style.stdout.dim('live view; --plain for lines only')}\n`);

/** Draws the view until `close`. Where it cannot be drawn, one line says so, and everything else goes on. */
export async function attachView(context: CommandContext, attached: Attached): Promise<View> {
  const state = emptyState(attached.emulator !== undefined);
  const over = new AbortController();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let screen: Screen | undefined;
  const bell = createWakeSignal();
  const input = createInput(context, {
    attached,
    state,
    end,
    redraw: () => screen?.redraw(),
    askAgain: () => bell.ring(),
  });
  const lost = (error: unknown) => {
    over.abort();
    context.note(`no live view: ${error instanceof Error ? error.message : error}`);
    if (!attached.isOwn) end();
  };
  const { TERM, XTERM_VERSION } = context.runtime.env;
  try {
    screen = await openScreen(attached.terminal, {
      lines: (size) =>
        footerLines({ ...state, prompt: promptOf(state) }, { ...size, style: context.style.stdout }),
      onInput: input,
      onFailure: lost,
      breaksAnew: XTERM_VERSION === undefined && !/^(rxvt|linux)/.test(TERM ?? ''),
    });
  } catch (error) {
    lost(error);
    return { ended, close() {} };
  }
  const { clock } = context.runtime;
  void keepAsking(attached, { state, screen, signal: over.signal, bell, clock }).catch((error: unknown) => {
    screen.close();
    lost(error);
  });
  return {
    ended,
    close() {
      over.abort();
      screen?.close();
    },
  };
}

interface State extends Omit<FooterState, 'prompt'> {
  /** Of the filter while it is typed. */
  typed: string | undefined;
  /** What is under way by a key. */
  doing: string | undefined;
  isAsked: boolean;
}

const emptyState = (acts: boolean): State => ({
  overview: undefined,
  trouble: undefined,
  requests: [],
  chosen: undefined,
  filter: undefined,
  keys: keys.filter((row) => acts || 'steers' in row),
  typed: undefined,
  doing: undefined,
  isAsked: false,
});

interface Asking {
  state: State;
  screen: Screen;
  signal: AbortSignal;
  /** Rings when something was done that the next answer shows. */
  bell: Pick<ReturnType<typeof createWakeSignal>, 'heard'>;
  clock: Pick<Clock, 'now'>;
}

async function keepAsking({ call }: Attached, { state, screen, signal, bell, clock }: Asking): Promise<void> {
  while (!signal.aborted) {
    screen.lookAgain();
    const asked = clock.now();
    if (screen.isUp()) {
      await ask(call, state);
      if (!signal.aborted) screen.redraw();
    }
    const pause = (clock.now() - asked) / SHARE_MAX;
    const timeoutMs = Math.min(Math.max(ASKED_EVERY_MS, pause), ASKED_AFTER_AT_MOST_MS);
    await bell.heard({ timeoutMs, signal });
  }
}

/** What the stack says now; where it says nothing, the last answer stays, with the reason. */
async function ask(call: ControlCall<LedgerEndpoint>, state: State): Promise<void> {
  try {
    const { filter } = state;
    const status = filter !== undefined && /^[1-5](xx|\d\d)$/.test(filter) ? filter : undefined;
    const [overview, list] = await Promise.all([
      call(showOverview).then(answered),
      call(listRequests, { query: { limit: filter ? FILTERED : LISTED, ...(status && { status }) } }).then(
        answered,
      ),
    ]);
    // Another one may have been typed meanwhile.
    if (filter !== state.filter) return;
    const isWanted = status === undefined && filter ? has(filter) : () => true;
    Object.assign(state, { overview, requests: list.requests.filter(isWanted), trouble: undefined });
    forgetQuestion(state);
  } catch (error) {
    state.trouble = problemFrom(error).message;
  }
}

function answered<Body>(reply: ControlReply<Body>): Body {
  mustSucceed(reply);
  return reply.body;
}

/** Whether a request has the text in what it was asked or answered, in small or capital letters. */
const has =
  (filter: string) =>
  ({ id, method, path, status, user, eventType, call, decision, error }: RequestSummary): boolean =>
    [id, method, path, status, user, eventType, call, decision, error]
      .join(' ')
      .toLowerCase()
      .includes(filter.toLowerCase());

interface Around {
  attached: Attached;
  state: State;
  end: () => void;
  redraw: () => void;
  /** Now, rather than after the pause. */
  askAgain: () => void;
}

/** What is done with a key, or with text that was typed while a filter is. */
function createInput(context: CommandContext, { attached, state, end, redraw, askAgain }: Around) {
  const { terminal, emulator, ledger, isOwn } = attached;
  const say = createSaying(context);
  const perform = ({ what, command }: Pick<Key, 'what' | 'command'>, work: () => Promise<Done>) => {
    if (state.doing !== undefined) return;
    state.doing = what;
    void say(command, work).finally(() => {
      state.doing = undefined;
      forgetQuestion(state);
      askAgain();
      redraw();
    });
  };
  const acting = { context: quietly(context), ledger };
  const view: ViewControls = {
    choose(by) {
      const place = state.requests.findIndex(({ id }) => id === state.chosen);
      const next = place === -1 ? 0 : Math.max(0, Math.min(place + by, state.requests.length - 1));
      state.chosen = state.requests[next]?.id;
    },
    startFilter() {
      state.typed = state.filter ?? '';
    },
    explainChosen(row) {
      const id = state.chosen ?? state.requests[0]?.id;
      if (id !== undefined) perform(row, () => explain(acting, id));
    },
    listKeys() {
      const { stdout } = context.runtime;
      const look = { acts: emulator !== undefined, isOwn, columns: terminal.size().columns };
      stdout.write(`${keysText(context.style.stdout, look)}\n`);
    },
    quit() {
      state.isAsked = isOwn && !state.isAsked && underWay(state) !== undefined;
      if (state.isAsked) return;
      if (isOwn) terminal.stopSelf();
      end();
    },
  };
  const press = (row: Key) => {
    if ('steers' in row) return row.steers(view, row);
    if (emulator) perform(row, () => row.does({ ...acting, call: emulator }));
  };
  return (name: string, isRepeated: boolean): void => {
    if (state.typed !== undefined) {
      typeFilter(state, name);
      if (state.typed === undefined) askAgain();
    } else {
      if (isRepeated) return;
      const found = keys.find(({ key }) => key === name);
      if (found?.key !== 'q') state.isAsked = false;
      if (found) press(found);
      else if (name === 'escape') {
        Object.assign(state, { filter: undefined, chosen: undefined });
        askAgain();
      }
    }
    redraw();
  };
}

function typeFilter(state: State, name: string): void {
  const typed = state.typed ?? '';
  if (name === 'enter') Object.assign(state, { filter: typed || undefined, typed: undefined });
  else if (name === 'escape') Object.assign(state, { filter: undefined, typed: undefined });
  else if (name === 'backspace') state.typed = typed.slice(0, -1);
  else if (name !== 'up' && name !== 'down' && !name.startsWith('ctrl-'))
    state.typed = typed + name.replaceAll(/\p{Cc}/gu, '');
}

function promptOf(state: State): string | undefined {
  if (state.typed !== undefined) return `filter: ${state.typed}_  enter keeps it, esc drops it`;
  if (state.isAsked) return `${underWay(state)} under way: q once more stops, another key does not`;
  return state.doing === undefined ? undefined : `under way: ${state.doing}`;
}

function underWay({ doing, overview }: State): string | undefined {
  const waiting = overview ? waitingText(overview) : NOTHING_WAITS;
  return doing ?? (waiting === NOTHING_WAITS ? undefined : waiting);
}

/** What was asked about is over: then `q` need not ask. */
function forgetQuestion(state: State): void {
  if (underWay(state) === undefined) state.isAsked = false;
}

/** Prints what a key has done as a terminal would have it: the command, and what it prints. */
function createSaying({ runtime, style: { stdout: style } }: CommandContext) {
  const typed = runtime.typed ?? ((text: string) => text);
  const transcript = ({ command, result }: Done) =>
    `${style.dim(`$ ${command}`)}\n${typeof result === 'number' ? '' : textOf(result, style)}`;
  return async (usual: string, work: () => Promise<Done>): Promise<void> => {
    const text = await work()
      .then(transcript)
      .catch((error: unknown) =>
        transcript({ command: usual, result: { ok: false, error: problemFrom(error) } }),
      );
    const { columns } = runtime.stdout;
    runtime.stdout.write(columns === undefined ? typed(text) : wrapWords(typed(text), columns, 2));
  };
}

function textOf(result: CommandResult, style: Style): string {
  const look = { format: 'text', meta: NO_META, stdoutStyle: style, stderrStyle: style } as const;
  const { stdout, stderr } = render(result, look);
  return stdout + stderr;
}

const NO_META = { command: '', durationMs: 0, target: null };

/** For commands that would draw how far they are: the footer says it. */
function quietly(context: CommandContext): CommandContext {
  const { runtime, about } = context;
  const stderr = Object.create(runtime.stderr, { isTTY: { value: false } });
  return { ...context, about: { ...about }, runtime: { ...runtime, stderr } };
}
