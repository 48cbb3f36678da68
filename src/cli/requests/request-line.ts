/** One request on one line: time, path, answer, and the result of its event. */
import type { RequestSummary } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { OutputFormat } from '../machine/output.ts';
import { type Style, shortHash } from '../terminal/style.ts';

/** The beginning of an id: long enough to be unique, short enough to type. */
export const shortRequestId = (id: string) => id.slice(0, 'req_'.length + 8);

/** A line for people, or the JSON of a stream's entry. */
export const requestEntry = (request: RequestSummary, as: { format: OutputFormat; style: Style }) =>
  as.format === 'json' || as.format === 'jsonl'
    ? JSON.stringify({ type: 'request', ...request })
    : requestLine(request, as.style);

/** `09:41:07  POST /rewards-api/manual-event    200    41ms  req_8f21a3b4  account_creation alice@… +100 RWT  tx 0xa1b2…`. */
export function requestLine(request: RequestSummary, style: Style): string {
  const { at, method, path, status, durationMs, id } = request;
  const paint = status < 400 ? style.green : status < 500 ? style.yellow : style.red;
  return [
    style.dim(at.slice(11, 19)),
    `${method} ${path}`.padEnd(32),
    paint(String(status)),
    formatDuration(durationMs).padStart(6),
    style.dim(shortRequestId(id)),
    ...outcome(request, style),
  ].join('  ');
}

function outcome(request: RequestSummary, style: Style): string[] {
  const { events, rewarded, decision, eventType, call, user, rewardAmount, transactionHash } = request;
  const why = `why: rewards requests explain ${shortRequestId(request.id)}`;
  if (events > 1) {
    return [`${rewarded} of ${events} events rewarded`, ...(rewarded < events ? [style.dim(why)] : [])];
  }
  const event = [eventType ?? call, user].filter(Boolean).join(' ');
  if (decision === 'rewarded' || decision === 'confirmed') {
    return [
      event,
      ...(rewardAmount === null ? [] : [style.bold(`+${rewardAmount} RWT`)]),
      ...(transactionHash === null ? [] : [`tx ${shortHash(transactionHash)}`]),
    ];
  }
  if (decision !== null) return [...(event ? [event] : []), reason(request), style.dim(why)];
  return request.error === null ? [] : [request.error];
}

/** `cooldown: 23h59m58s left`. */
function reason({ decision, passesAt, at }: RequestSummary): string {
  const name = (decision ?? '').replaceAll('_', ' ');
  if (passesAt === null) return name;
  return `${name}: ${formatDuration(Math.max(0, Date.parse(passesAt) - Date.parse(at)))} left`;
}
