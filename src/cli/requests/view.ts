/** One request with what was sent and what was answered, or as the curl command that sends it again. */
import type { RequestDetail } from '../../client/bodies.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { Style } from '../terminal/style.ts';

type RewardNow = NonNullable<RequestDetail['explained'][number]['reward']>;

export function requestText(request: RequestDetail, style: Style): string {
  const { id, at, method, path, search, status, durationMs, origin, withBrandKey } = request;
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(8))}  ${text}`;
  return [
    `${style.bold(id)}  ${at}`,
    row('request', `${method} ${path}${search}`),
    ...(origin === null ? [] : [row('origin', origin)]),
    ...(withBrandKey ? [row('key', "of the event's brand")] : []),
    ...body(request.requestBody),
    row('answer', `${status} in ${formatDuration(durationMs)}`),
    ...body(request.responseBody),
    ...request.explained.flatMap(({ reward }) => (reward ? [row('reward', rewardText(reward))] : [])),
  ].join('\n');
}

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

/** The log keeps no secrets, so the command takes the brand's key from the environment. */
export function asCurl(request: RequestDetail, base: string): string {
  const { method, path, search, origin, requestBody, withBrandKey } = request;
  const parts = [
    `curl -i ${method === 'GET' ? '' : `-X ${method} `}${quoted(base + path + search)}`,
    ...(origin === null ? [] : [`-H ${quoted(`origin: ${origin}`)}`]),
    ...(withBrandKey ? ['-H "authorization: Bearer $REWARDS_API_KEY"'] : []),
    ...(requestBody === null
      ? []
      : [`-H ${quoted('content-type: application/json')}`, `--data-raw ${quoted(requestBody)}`]),
  ];
  return parts.join(' \\\n  ');
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
