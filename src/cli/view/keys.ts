/** The keys of the live view: a row each, with the command that does the same. */
import type { ControlCall } from '../../client/control-call.ts';
import { listSessions } from '../../contract/control/processor.ts';
import { listRequests } from '../../contract/control/requests.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { shortRequestId } from '../talk/requests/view.ts';
import type { Style } from '../terminal/style.ts';
import { wrapWords } from '../terminal/wrap.ts';

/** What a key that asks or changes something needs. */
export interface Acting {
  context: CommandContext;
  /** Where a ledger is looked at without a service. */
  ledger: LedgerOptions;
}

/** What was done, and the command that does the same. */
export interface Done {
  command: string;
  result: CommandResult | number;
}

/** What a key does to the view itself. */
export interface ViewControls {
  choose(by: 1 | -1): void;
  startFilter(): void;
  explainChosen(row: Row): void;
  listKeys(): void;
  quit(): void;
}

interface Row {
  key: string;
  /** In the footer. */
  word: string;
  what: string;
  command: string;
  /** What it does where the stack is of another process. */
  elsewhere?: string;
}

/** `does` is an action on the stack, which only the emulator takes; `steers` the view. */
export type Key = Row &
  (
    | { does: (acting: Acting & { call: ControlCall }) => Promise<Done> }
    | { steers: (view: ViewControls, row: Row) => void }
  );

/** Older ones than these are not looked through for an event. */
const LOOKED_BACK = 100;

/** In the order of the footer, which cuts the last. */
export const keys: readonly Key[] = [
  {
    key: '?',
    word: 'keys',
    what: 'print all keys',
    command: 'rewards --help',
    steers: (view) => view.listKeys(),
  },
  {
    key: 'q',
    word: 'quit',
    what: 'stop the stack; asks while something is under way',
    command: 'rewards stop',
    elsewhere: 'end the view; the stack goes on',
    steers: (view) => view.quit(),
  },
  {
    key: 'enter',
    word: 'why',
    what: 'print why the chosen request was answered so',
    command: 'rewards requests explain <id>',
    steers: (view, row) => view.explainChosen(row),
  },
  {
    key: 'b',
    word: 'console',
    what: 'open the console in the browser',
    command: 'rewards open',
    async does({ context }) {
      const { openPage } = await import('../around/open.ts');
      const browser = !context.runtime.env.REWARDS_NO_BROWSER;
      return { command: 'rewards open', result: await openPage(context, { page: 'control', browser }) };
    },
  },
  {
    key: 'e',
    word: 'event again',
    what: 'send the last event again, with a new id',
    command: 'rewards requests replay <id> --new-id',
    async does({ context, ledger, call }) {
      const { replayRequest } = await import('../talk/requests/replay.ts');
      const id = await lastEvent(call);
      const once = { times: 1, concurrency: 1, watch: 0, newId: true };
      return {
        command: `rewards requests replay ${shortRequestId(id)} --new-id`,
        result: await replayRequest(context, { ...ledger, ...once, id }),
      };
    },
  },
  {
    key: 'p',
    word: 'pay',
    what: 'pay the open checkout',
    command: 'rewards checkout pay <session>',
    async does({ context, call }) {
      const { payCheckout } = await import('../talk/checkout.ts');
      const session = await openCheckout(call);
      return {
        command: `rewards checkout pay ${session}`,
        result: await payCheckout(context, { session, webhook: true }),
      };
    },
  },
  {
    key: 'w',
    word: 'webhook again',
    what: 'deliver the last webhook again',
    command: 'rewards webhooks deliveries replay latest',
    async does({ context, ledger }) {
      const { replayDelivery } = await import('../talk/webhooks/endpoints.ts');
      return {
        command: 'rewards webhooks deliveries replay latest',
        result: await replayDelivery(context, { ...ledger, id: 'latest' }),
      };
    },
  },
  {
    key: '+',
    word: 'hour',
    what: 'move the clock an hour forward',
    command: 'rewards clock advance 1h',
    async does({ context }) {
      const { advanceClock } = await import('../emulator/clock.ts');
      return { command: 'rewards clock advance 1h', result: await advanceClock(context, { duration: '1h' }) };
    },
  },
  {
    key: 'g',
    word: 'next due',
    what: 'go to the next moment at which something falls due',
    command: 'rewards clock advance --until next',
    async does({ context }) {
      const { advanceClock } = await import('../emulator/clock.ts');
      return {
        command: 'rewards clock advance --until next',
        result: await advanceClock(context, { until: 'next' }),
      };
    },
  },
  {
    key: 's',
    word: 'snapshot',
    what: 'save the whole stack',
    command: 'rewards snapshot save',
    async does({ context }) {
      const { saveSnapshot } = await import('../emulator/snapshots.ts');
      return { command: 'rewards snapshot save', result: await saveSnapshot(context, {}) };
    },
  },
  {
    key: 'u',
    word: 'undo',
    what: 'take back the last request that changed something',
    command: 'rewards undo',
    async does({ context }) {
      const { undo } = await import('../emulator/snapshots.ts');
      return { command: 'rewards undo', result: await undo(context, {}) };
    },
  },
  {
    key: '/',
    word: 'filter',
    what: 'list only requests with a text in them, or with a status such as 4xx',
    command: 'rewards requests list --status 4xx',
    steers: (view) => view.startFilter(),
  },
  {
    key: 'up',
    word: 'newer',
    what: 'choose the request above',
    command: 'rewards requests list',
    steers: (view) => view.choose(-1),
  },
  {
    key: 'down',
    word: 'older',
    what: 'choose the request below',
    command: 'rewards requests list',
    steers: (view) => view.choose(1),
  },
];

async function lastEvent(call: ControlCall): Promise<string> {
  const reply = await call(listRequests, { query: { limit: LOOKED_BACK } });
  mustSucceed(reply);
  const found = reply.body.requests.find(({ host, events }) => host === 'events' && events > 0);
  if (found) return found.id;
  throw new CliError('E_REFUSED', {
    message: 'None of the last requests was an event.',
    fix: 'Send one: `rewards send-event <type> --user <email>`.',
  });
}

async function openCheckout(call: ControlCall): Promise<string> {
  const reply = await call(listSessions, { query: { status: 'open', limit: 1 } });
  mustSucceed(reply);
  const [session] = reply.body.sessions;
  if (session) return session.id;
  throw new CliError('E_REFUSED', {
    message: 'No checkout is open.',
    fix: 'Begin one: `rewards checkout create --amount 500 --user <email>`.',
  });
}

/** Why the request was answered so, from the emulator or a ledger. */
export async function explain({ context, ledger }: Acting, id: string): Promise<Done> {
  const { explainRequest } = await import('../talk/requests/requests.ts');
  return {
    command: `rewards requests explain ${shortRequestId(id)}`,
    result: await explainRequest(context, { ...ledger, id }),
  };
}

/** All of them, for people; what a ledger does not take is marked. */
export function keysText(
  style: Style,
  { acts, isOwn, columns }: { acts: boolean; isOwn: boolean; columns: number },
): string {
  const shown = keys.map((row) => {
    const { key, what, command, elsewhere } = row;
    if (!isOwn && elsewhere !== undefined) return { key, what: elsewhere, command: '' };
    return { key, what, command: acts || 'steers' in row ? command : 'needs the emulator' };
  });
  const widest = (texts: string[]) => Math.max(...texts.map((text) => text.length)) + 2;
  const names = widest(shown.map(({ key }) => key));
  const whats = widest(shown.map(({ what }) => what));
  const rows = shown.map(({ key, what, command }) =>
    `  ${style.bold(key.padEnd(names))}${what.padEnd(whats)}${style.dim(command)}`.trimEnd(),
  );
  return wrapWords(rows.join('\n'), columns, names + 2);
}
