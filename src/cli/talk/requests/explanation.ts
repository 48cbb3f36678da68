/** The checks of an event or a relayed call for people: each with its numbers, the one that refused, and when it would pass. */
import type { CheckBody, ExplainedEvent, RequestDetail } from '../../../contract/control/requests.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { visibleLine } from '../../../lib/text/visible-text.ts';
import type { Style } from '../../terminal/style.ts';
import { shortRequestId } from './view.ts';

const NAME_WIDTH = 16;
const OUTCOME_WIDTH = 7;
const NEVER = 'never (waiting does not help)';

export function explanationText(request: RequestDetail, style: Style): string {
  const { id, method, path, status, error, explained } = request;
  const head = `${style.bold(shortRequestId(id))}  ${visibleLine(`${method} ${path}`)}  ->  ${paintStatus(status, style)}${error ? ` ${visibleLine(error)}` : ''}`;
  if (explained.length === 0) return `${head}\n  this request has no event and no call to explain`;
  const parts = explained.map((event, place) => {
    const title = explained.length > 1 ? [style.bold(`event ${place + 1} of ${explained.length}`)] : [];
    return [...title, ...eventLines(event, { request, style })].join('\n');
  });
  return [head, ...parts].join('\n');
}

/** What an event is explained for: a request has an id, an event that was only looked at has none. */
type Asked = Pick<RequestDetail, 'now'> & { id?: string };

export function eventLines(
  event: ExplainedEvent,
  { request, style }: { request: Asked; style: Style },
): string[] {
  const last = event.checks.findIndex(({ outcome }) => outcome === 'refused');
  const reached = last === -1 ? event.checks : event.checks.slice(0, last + 1);
  const left = event.checks.slice(reached.length).map(({ name }) => spaced(name));
  return [
    ...reached.flatMap((check, place) => checkLines(check, { number: place + 1, request, style })),
    ...(left.length > 0 ? [style.dim(`      not reached: ${left.join(', ')}`)] : []),
    ...outlookLines(event, { request, style }),
  ];
}

function checkLines(
  check: CheckBody,
  { number, request, style }: { number: number; request: Asked; style: Style },
): string[] {
  const word = check.outcome === 'refused' ? 'REFUSED' : check.outcome;
  const paint = { ok: style.green, refused: style.red, skipped: style.dim, 'not reached': style.dim };
  const line = [
    `  ${String(number).padStart(2)}`,
    spaced(check.name).padEnd(NAME_WIDTH),
    paint[check.outcome](word.padEnd(OUTCOME_WIDTH)),
    visibleLine(check.text),
  ].join('  ');
  return [line, ...remedies(check, request.now).map((remedy) => detail(remedy, style))];
}

/** When a check that refused would pass, and what else would help. */
function remedies({ passesAt, or }: CheckBody, now: string): [string, string][] {
  const passes = passesAt === undefined ? [] : [passesAt === null ? NEVER : whenText(passesAt, now)];
  return [
    ...passes.map((text): [string, string] => ['passes', text]),
    ...(or === undefined ? [] : [['fix', visibleLine(or)] satisfies [string, string]]),
  ];
}

/** When every check would pass, since the check that refused may not be the last to refuse. */
function outlookLines(event: ExplainedEvent, { request, style }: { request: Asked; style: Style }): string[] {
  const refused = event.checks.find(({ outcome }) => outcome === 'refused');
  if (!refused) return [];
  const { passesAt, never } = event;
  if (passesAt !== null) {
    const lines = [`passes every check ${whenText(passesAt, request.now)}`];
    if (request.id !== undefined && Date.parse(passesAt) > Date.parse(request.now))
      lines.push(`rewards clock advance --until ${shortRequestId(request.id)}`);
    return lines.map((text, place) => detail([place === 0 ? whatIt(event) : 'then', text], style));
  }
  if (never === null || never.check === refused.name) return [];
  return [
    detail(
      [
        whatIt(event),
        `then ${spaced(never.check)} refuses it: ${visibleLine(never.text)}; waiting does not help`,
      ],
      style,
    ),
  ];
}

/** `at 2026-11-21T09:41:07.000Z, in 23h59m58s`. */
export function whenText(at: string, now: string): string {
  const leftMs = Date.parse(at) - Date.parse(now);
  return leftMs <= 0 ? `since ${at}` : `at ${at}, in ${formatDuration(leftMs)}`;
}

export const spaced = (name: string) => name.replaceAll('_', ' ');

const detail = ([name, text]: [string, string], style: Style) =>
  `      ${style.dim(name.padEnd(NAME_WIDTH - 8))}  ${text}`;

const whatIt = ({ kind }: ExplainedEvent) => (kind === 'relay' ? 'call' : 'event');

const paintStatus = (status: number, style: Style) =>
  (status < 400 ? style.green : status < 500 ? style.yellow : style.red)(String(status));
