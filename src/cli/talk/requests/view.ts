/** One request with what was sent and what was answered. */
import type { RequestDetail } from '../../../contract/control/requests.ts';
import { formatDuration } from '../../../lib/duration.ts';
import type { Style } from '../../terminal/style.ts';

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
