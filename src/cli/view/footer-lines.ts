/** What the footer says, as lines for a terminal of this size: at most a third of its rows. */
import type { Overview } from '../../contract/control/overview.ts';
import type { RequestSummary } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { visibleLine } from '../../lib/text/visible-text.ts';
import { waitingText } from '../around/overview-text.ts';
import { reason, shortRequestId } from '../talk/requests/view.ts';
import type { Style } from '../terminal/style.ts';
import { widthOf } from '../terminal/wrap.ts';

export interface FooterState {
  /** Undefined until it has been answered. */
  overview: Overview | undefined;
  /** Why there is no new overview. */
  trouble: string | undefined;
  /** Newest first. */
  requests: readonly RequestSummary[];
  /** Id of the request that keys are for. */
  chosen: string | undefined;
  /** Only requests with this in them are listed. */
  filter: string | undefined;
  /** What takes the place of the keys: a question, what is typed, what is under way. */
  prompt: string | undefined;
  /** The keys with a word for each, what matters most first. */
  keys: readonly { key: string; word: string }[];
}

interface Look {
  columns: number;
  rows: number;
  style: Style;
}

type Paint = (text: string) => string;
interface Cell {
  text: string;
  paint?: Paint | undefined;
}

const SHARE_OF_ROWS = 3;
/** Widths of the terminal from which on less urgent facts have room. */
const WIDE = 60;
const VERY_WIDE = 120;
/** A longer rule would be several rows of a terminal that has become narrower. */
const RULE_MAX = 79;
/** Longer texts of callers are cut, so that what comes behind them is seen. */
const WHAT_MAX = 26;
const WHY_MAX = 40;
const USER_MAX = 32;
/** Brands and alarms beside requests. */
const BRANDS_MAX = 4;
const ALARMS_MAX = 3;

/** None where the screen has fewer than three rows. */
export function footerLines(state: FooterState, { columns, rows, style }: Look): string[] {
  const room = Math.floor(rows / SHARE_OF_ROWS);
  // A line that fills the terminal is broken by some.
  const width = columns - 1;
  if (room < 1 || width < 1) return [];
  const look = { columns: width, style };
  const { overview } = state;
  const head = headLine(state, look);
  const last = lastLine(state, look);
  if (room === 1) return [state.prompt === undefined ? head : last];
  const alarms = (overview?.alarms ?? []).slice(0, ALARMS_MAX).map((one) => alarmLine(one, look));
  const facts = overview ? factLines(overview, look) : [];
  let left = room - 2;
  const take = (lines: string[], most = left) => {
    const taken = lines.slice(0, Math.max(0, Math.min(left, most)));
    left -= taken.length;
    return taken;
  };
  const alarming = take(alarms);
  // Half of what is left is for requests, and more where there is less to say.
  const known = take(facts, Math.floor(left / 2));
  const requests = take(requestLines(state, { ...look, rows: left }));
  return [head, ...alarming, ...known, ...requests, last];
}

function headLine(
  { overview, trouble, filter }: FooterState,
  { columns, style }: { columns: number; style: Style },
): string {
  const cells: Cell[] = [
    ...(overview ? clockCells(overview.clock, { columns, style }) : [{ text: 'asking …', paint: style.dim }]),
    ...(filter ? [{ text: `only "${cut(visibleLine(filter), WHAT_MAX)}"`, paint: style.yellow }] : []),
    ...(trouble === undefined ? [] : [{ text: visibleLine(trouble), paint: style.red }]),
    ...(overview?.log && trouble === undefined ? logCells(overview.log) : []),
  ];
  const text = joined([{ text: '──', paint: style.dim }, ...cells], columns);
  return `${text} ${style.dim('─'.repeat(Math.max(0, Math.min(columns, RULE_MAX) - widthOf(text) - 1)))}`.trimEnd();
}

function clockCells(
  { now, frozen, offsetMs }: Overview['clock'],
  { columns, style }: { columns: number; style: Style },
): Cell[] {
  const date = now.slice(columns < WIDE ? 5 : 0, 10);
  const isAway = Math.abs(offsetMs) >= 1_000;
  const apart = formatDuration(Math.abs(offsetMs));
  const away =
    columns < WIDE ? `${offsetMs < 0 ? '-' : '+'}${apart}` : `${apart} ${offsetMs < 0 ? 'behind' : 'ahead'}`;
  return [
    { text: `${date} ${now.slice(11, 19)}`, paint: style.bold },
    ...(isAway ? [{ text: away, paint: style.yellow }] : []),
    ...(frozen ? [{ text: 'frozen', paint: style.yellow }] : []),
  ];
}

const logCells = ({ perSecond, requests, refused, failed }: NonNullable<Overview['log']>): Cell[] => [
  { text: `${perSecond.toFixed(1)}/s` },
  { text: `${requests} requests, ${refused} refused, ${failed} failed` },
];

const alarmLine = (
  { code, about, remedy }: NonNullable<Overview['alarms']>[number],
  { columns, style }: { columns: number; style: Style },
) =>
  joined(
    [
      { text: 'alarm', paint: style.red },
      { text: visibleLine(code), paint: style.red },
      { text: visibleLine(about) },
      { text: visibleLine(remedy), paint: style.dim },
    ],
    columns,
  );

/** What waits, the lanes and the balances: one line each, and in a wide terminal two of them together. */
function factLines(overview: Overview, { columns, style }: { columns: number; style: Style }): string[] {
  const named = (name: string): Cell => ({ text: name.padEnd(7), paint: style.bold });
  const waiting = { text: waitingText(overview) };
  const lanes = laneCells(overview);
  const brands = brandCells(overview);
  if (columns >= VERY_WIDE)
    return [
      joined([named('waiting'), waiting, named('  lanes'), ...lanes], columns),
      joined([named('brands'), ...brands], columns),
    ];
  return [
    joined([named('waiting'), waiting], columns),
    joined([named('lanes'), ...lanes], columns),
    joined([named('brands'), ...brands], columns),
  ];
}

const PURPOSES = ['payout', 'mint', 'relay', 'redeem', 'setup'] as const;

/** `payout 3  mint 0  in flight`: of the lanes of each purpose together. */
function laneCells({ lanes, lanesMore }: Overview): Cell[] {
  if (lanes.length === 0) return [{ text: 'none' }];
  const cells = PURPOSES.flatMap((purpose) => {
    const ofPurpose = lanes.filter((lane) => lane.purpose === purpose);
    if (ofPurpose.length === 0) return [];
    const inFlight = ofPurpose.reduce((sum, lane) => sum + lane.inFlight, 0);
    // What prepares the contracts is done before the rest begins.
    const isLeft = purpose !== 'setup' && ofPurpose.some(({ holder }) => holder === null);
    return [{ text: `${purpose} ${inFlight}${isLeft ? ' (nobody sends)' : ''}` }];
  });
  const more = lanesMore > 0 ? [{ text: `and ${lanesMore} more lanes` }] : [];
  return [...cells, { text: 'in flight' }, ...more];
}

function brandCells({ brands, brandsMore }: Overview): Cell[] {
  const shown = brands.slice(0, BRANDS_MAX).map(({ name, available, deposited }) => ({
    text: `${cut(visibleLine(name), WHAT_MAX)} ${available} of ${deposited} RWT`,
  }));
  const more = brandsMore + Math.max(0, brands.length - BRANDS_MAX);
  if (shown.length === 0) return [{ text: 'none' }];
  return more > 0 ? [...shown, { text: `and ${more} more` }] : shown;
}

/** The newest that fit, or those around the chosen one. */
function requestLines(
  { requests, chosen, filter }: FooterState,
  { columns, rows, style }: Look & { columns: number },
): string[] {
  if (requests.length === 0)
    return [style.dim(cut(filter ? `no request has "${visibleLine(filter)}"` : 'no requests yet', columns))];
  const place = requests.findIndex(({ id }) => id === chosen);
  const first = Math.max(0, Math.min(place - Math.floor(rows / 2), requests.length - rows));
  const shown = requests.slice(first, first + rows);
  const facts = shown.map(factsOf);
  const widest = (texts: string[]) => Math.max(0, ...texts.map((text) => text.length));
  const widths = {
    what: widest(facts.map(({ what }) => what)),
    why: widest(facts.map(({ why }) => why)),
    user: widest(facts.map(({ user }) => user)),
  };
  return shown.map((request, at) => {
    const { what, why, user } = facts[at] ?? { what: '', why: '', user: '' };
    const { status, durationMs, method, path, id } = request;
    const paint = status < 400 ? style.green : status < 500 ? style.yellow : style.red;
    const isChosen = id === chosen;
    return joined(
      [
        {
          text: `${isChosen ? '>' : ' '} ${request.at.slice(11, 19)}`,
          paint: isChosen ? style.bold : style.dim,
        },
        { text: String(status), paint },
        { text: what.padEnd(widths.what), paint: isChosen ? style.bold : undefined },
        { text: why.padEnd(widths.why) },
        ...(columns < WIDE ? [] : [{ text: user.padEnd(widths.user), paint: style.dim }]),
        ...(columns < VERY_WIDE
          ? []
          : [
              { text: formatDuration(durationMs).padStart(6), paint: style.dim },
              { text: shortRequestId(id), paint: style.dim },
              { text: visibleLine(`${method} ${path}`), paint: style.dim },
            ]),
      ],
      columns,
    ).trimEnd();
  });
}

/** What was asked, why it was answered so, and for whom: texts of callers among them. */
function factsOf(request: RequestSummary): { what: string; why: string; user: string } {
  const { eventType, call, method, path, events, rewarded, decision, rewardAmount, error, user } = request;
  const what = eventType ?? call ?? `${method} ${path.slice(path.lastIndexOf('/'))}`;
  const isTaken = decision === 'rewarded' || decision === 'confirmed';
  const taken = rewardAmount === null ? (decision ?? '') : `+${rewardAmount} RWT`;
  const why =
    events > 1
      ? `${rewarded} of ${events} events rewarded`
      : isTaken
        ? taken
        : decision === null
          ? (error ?? '')
          : reason(request);
  return {
    what: cut(visibleLine(what), WHAT_MAX),
    why: cut(visibleLine(why), WHY_MAX),
    user: cut(visibleLine(user ?? ''), USER_MAX),
  };
}

function lastLine(
  { prompt, keys }: FooterState,
  { columns, style }: { columns: number; style: Style },
): string {
  if (prompt !== undefined) return joined([{ text: visibleLine(prompt), paint: style.yellow }], columns);
  const cells: string[] = [];
  let room = columns;
  for (const { key, word } of keys) {
    room -= key.length + 1 + word.length + (cells.length > 0 ? 2 : 0);
    if (room < 0) break;
    cells.push(`${style.bold(key)} ${style.dim(word)}`);
  }
  return cells.join('  ');
}

/** The cells two blanks apart; the one that does not fit is cut, and what follows it left out. */
function joined(cells: readonly Cell[], columns: number): string {
  const shown: string[] = [];
  let room = columns;
  for (const { text, paint = (plain: string) => plain } of cells) {
    const gap = shown.length > 0 ? 2 : 0;
    if (room - gap < 1) break;
    // Of a column that is filled up with blanks, only these may be missing.
    const fitting = text.trimEnd().length <= room - gap ? text.slice(0, room - gap) : cut(text, room - gap);
    shown.push(paint(fitting));
    room -= gap + fitting.length;
    if (fitting.length < text.length) break;
  }
  return shown.join('  ');
}

/** Ends in `…` where it is longer; never within a character of two halves. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, Math.max(0, most - 1)).replace(/[\ud800-\udbff]$/, '')}…`;
}
