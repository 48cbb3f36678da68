/** One relayed call for people: one line for a success, a few for a refusal. */

import { rateWindowIn } from '../../client/rate-window.ts';
import type { Reply } from '../../client/reply.ts';
import { formatDuration } from '../../lib/duration.ts';
import { isObject, type JsonObject } from '../service/assignments.ts';
import { type Style, shortAddress } from '../terminal/style.ts';

interface SentRelay {
  /** The called function, in one word. */
  call: string;
  reply: Reply;
  tookMs: number;
}

/** `200  purchaseFor  in block 12  83211 gas at 1.5 gwei  tx 0x…  34 of 35 left  41ms`. */
export function relayLine({ call, reply, tookMs }: SentRelay, style: Style): string {
  const body = isObject(reply.body) ? reply.body : {};
  const window = rateWindowIn(reply.headers);
  return [
    style.green(String(reply.status)),
    style.bold(call),
    `in block ${body.blockNumber}`,
    gasText(body),
    `tx ${body.transactionHash}`,
    ...(window ? [`${window.remaining} of ${window.limit} left`] : []),
    style.dim(formatDuration(tookMs)),
  ].join('  ');
}

/** The code, the reason, the check that refused, and when the user's next window begins. */
export function relayRefusalLines({ call, reply, tookMs }: SentRelay, style: Style): string {
  const body = isObject(reply.body) ? reply.body : {};
  const details = isObject(body.details) ? body.details : {};
  const row = (name: string, line: string) => `  ${style.dim(name.padEnd(6))}  ${line}`;
  const window = rateWindowIn(reply.headers);
  const wait = typeof details.remainingSeconds === 'number' ? details.remainingSeconds * 1_000 : undefined;
  const resets = window && new Date(window.resetAtMs).toISOString();
  return [
    `${style.red(String(reply.status))}  ${style.bold(String(body.code ?? body.error ?? 'refused'))}`,
    row('call', `${call}  ${style.dim(formatDuration(tookMs))}`),
    ...(typeof body.error === 'string' ? [row('why', body.error)] : []),
    ...(typeof details.reason === 'string' ? [row('reason', details.reason)] : []),
    ...factLines(body.code, details).map((line) => row('', line)),
    ...(wait === undefined
      ? []
      : [row('passes', `in ${formatDuration(wait)} (rewards clock advance ${formatDuration(wait)})`)]),
    ...(window
      ? [row('limit', `${window.remaining} of ${window.limit} left, back to ${window.limit} at ${resets}`)]
      : []),
  ].join('\n');
}

/** `confirmed  in block 12  83211 gas at 1.5 gwei  tx 0x…`. */
export function relayStateLine(body: unknown, style: Style): string {
  const state = isObject(body) ? body : {};
  const paint = { confirmed: style.green, failed: style.red }[String(state.status)] ?? style.yellow;
  const { blockNumber, from, transactionHash } = state;
  return [
    paint(String(state.status)),
    ...(blockNumber === undefined ? [] : [`in block ${blockNumber}`, gasText(state)]),
    `tx ${transactionHash}`,
    style.dim(`from ${shortAddress(String(from))}`),
  ].join('  ');
}

/** Fields that the texts above may leave out. */
function factLines(code: unknown, { function: name, transactionHash, allowed }: JsonObject): string[] {
  const shown = Object.entries({ function: name, tx: transactionHash }).flatMap(([label, value]) =>
    typeof value === 'string' ? [`${label} ${value}`] : [],
  );
  const contracts = code === 'CONTRACT_NOT_WHITELISTED' && Array.isArray(allowed) ? allowed : [];
  return [...shown, ...contracts.map((contract) => `allowed ${contract}`)];
}

const GWEI = 1e9;
const gasText = ({ gasUsed, effectiveGasPrice }: JsonObject) =>
  `${gasUsed} gas at ${Number((Number(effectiveGasPrice) / GWEI).toPrecision(3))} gwei`;
