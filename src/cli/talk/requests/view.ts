/** One request with what was sent and what was answered. */
import type { RequestDetail, RequestSummary } from '../../../contract/control/requests.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { visibleLine } from '../../../lib/text/visible-text.ts';
import type { OutputFormat } from '../../machine/output.ts';
import { type Style, shortHash } from '../../terminal/style.ts';

type RewardNow = NonNullable<RequestDetail['explained'][number]['reward']>;

export function requestText(request: RequestDetail, style: Style): string {
  const { id, at, method, path, search, status, durationMs, origin, credential, requestBodyKept } = request;
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(8))}  ${text}`;
  return [
    `${style.bold(id)}  ${at}`,
    row('request', `${method} ${path}${search}`),
    ...(origin === null ? [] : [row('origin', origin)]),
    ...Object.entries(request.requestHeaders).map(([name, value]) => row('header', `${name}: ${value}`)),
    ...(credential === null ? [] : [row('proof', `${PROOFS[credential]}; its value is not kept`)]),
    ...body(request.requestBody),
    ...(requestBodyKept in NOT_WHOLE ? [row('body', NOT_WHOLE[requestBodyKept] ?? '')] : []),
    row('answer', `${status} in ${formatDuration(durationMs)}`),
    ...Object.entries(request.responseHeaders)
      .filter(([name]) => name !== 'content-type')
      .map(([name, value]) => row('header', `${name}: ${value}`)),
    ...body(request.responseBody),
    ...request.explained.flatMap(({ reward }) => (reward ? [row('reward', rewardText(reward))] : [])),
  ].join('\n');
}

const PROOFS = {
  key: 'a key',
  token: "a user's token",
  signature: 'a signature',
  password: 'a password',
  cookie: 'a cookie',
} satisfies Record<NonNullable<RequestDetail['credential']>, string>;

const NOT_WHOLE: Partial<Record<RequestDetail['requestBodyKept'], string>> = {
  cut: 'cut: it was too long for the log',
  redacted: 'kept without the secrets in it',
  refused: 'refused as such, and not kept',
  'not kept': 'production keeps no bodies',
};

/** Where the reward is now; the answer's transaction may have been replaced. */
function rewardText(reward: RewardNow): string {
  const { eventId, rewardAmount, status, transactionHash, blockNumber, reason } = reward;
  return [
    `${eventId}  ${rewardAmount} RWT  ${status}`,
    ...(reason === null ? [] : [`(${reason})`]),
    ...(transactionHash === null ? ['in no transaction yet'] : [`in transaction ${transactionHash}`]),
    ...(blockNumber === null ? [] : [`of block ${blockNumber}`]),
  ].join(' ');
}

function body(text: string | null): string[] {
  if (text === null || text === '') return [];
  return indented(text).map((line) => `    ${line}`);
}

function indented(text: string): string[] {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).split('\n');
  } catch {
    return text.split('\n');
  }
}

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
    visibleLine(`${method} ${path}`).padEnd(32),
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
  const event = visibleLine([eventType ?? call, user].filter(Boolean).join(' '));
  if (decision === 'rewarded' || decision === 'confirmed') {
    return [
      event,
      ...(rewardAmount === null ? [] : [style.bold(`+${rewardAmount} RWT`)]),
      ...(transactionHash === null ? [] : [`tx ${shortHash(transactionHash)}`]),
    ];
  }
  if (decision !== null) return [...(event ? [event] : []), reason(request), style.dim(why)];
  return request.error === null ? [] : [visibleLine(request.error)];
}

/** `cooldown: 23h59m58s left`. */
export function reason({ decision, passesAt, at }: RequestSummary): string {
  const name = (decision ?? '').replaceAll('_', ' ');
  if (passesAt === null) return name;
  return `${name}: ${formatDuration(Math.max(0, Date.parse(passesAt) - Date.parse(at)))} left`;
}
