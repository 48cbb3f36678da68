/** One event for people: one line for a reward, a few for a refusal. */

import type { RewardBody } from '../../client/bodies.ts';
import type { Reply } from '../../client/reply.ts';
import type { RequestDetail } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { shortRequestId } from '../requests/request-line.ts';
import { isObject, type JsonObject } from '../service/assignments.ts';
import { reasonsOf } from '../service/expectation.ts';
import { spaced, whenText } from '../talk/requests/explanation.ts';
import { type Style, shortAddress, shortHash } from '../terminal/style.ts';

export interface SentEvent {
  sent: JsonObject;
  reply: Reply;
  tookMs: number;
  /** The emulator's explanation of a refusal. */
  explained?: RequestDetail | undefined;
}

/** `200  +100 RWT  alice@demo.example -> 0x7099…79C8 (wallet created)  tx 0xa1b2…  41ms`. */
export function rewardLine({ sent, reply, tookMs }: SentEvent, style: Style): string {
  const body = (isObject(reply.body) ? reply.body : {}) as Partial<RewardBody>;
  const wallet = body.walletAddress ? ` -> ${shortAddress(body.walletAddress)}` : '';
  return [
    style.green(String(reply.status)),
    style.bold(`+${body.rewardAmount ?? 0} RWT`),
    `${whoOf(sent)}${wallet}${body.walletCreated ? ' (wallet created)' : ''}`,
    ...(body.transactionHash ? [`tx ${shortHash(body.transactionHash)}`] : []),
    style.dim(formatDuration(tookMs)),
  ].join('  ');
}

/** `429  cooldown, as expected  alice@demo.example  9ms`. */
export function expectedLine({ sent, reply, tookMs }: SentEvent, style: Style): string {
  const reason = reasonsOf(reply)[0] ?? 'refused';
  return [
    style.green(String(reply.status)),
    `${reason}, as expected`,
    whoOf(sent),
    style.dim(formatDuration(tookMs)),
  ].join('  ');
}

/** The refused event, the reason, and when or how the event would pass. */
export function refusalLines({ sent, reply, tookMs, explained }: SentEvent, style: Style): string {
  const body = isObject(reply.body) ? reply.body : {};
  const details = isObject(body.details) ? body.details : {};
  const row = (name: string) => (line: string) => `  ${style.dim(name.padEnd(6))}  ${line}`;
  return [
    `${style.red(String(reply.status))}  ${style.bold(textOf(body.error) ?? 'no reward')}`,
    row('event')(
      `${sent.eventType ?? 'without a type'} for ${whoOf(sent)}  ${style.dim(formatDuration(tookMs))}`,
    ),
    ...whyOf(body).map(row('why')),
    ...checkOf(explained).map(row('check')),
    ...passesWhen(details).map(row('passes')),
    ...beyond(explained).map(([name, line]) => row(name)(line)),
  ].join('\n');
}

/** Milliseconds until the same event would pass, where the service tells. */
export function waitMsOf(details: JsonObject): number | undefined {
  const seconds = details.remainingSeconds;
  return typeof seconds === 'number' ? seconds * 1_000 : undefined;
}

const whoOf = (sent: JsonObject) => {
  const who = sent.userEmail ?? sent.userIdentifier ?? 'nobody';
  return typeof who === 'string' ? who : JSON.stringify(who);
};

function whyOf({ error, message, details }: JsonObject): string[] {
  const listed = Array.isArray(details)
    ? details
    : isObject(details) && Array.isArray(details.errors)
      ? details.errors
      : [];
  const told = isObject(details) && details.message !== undefined ? details.message : message;
  const saysMore = (line: unknown): line is string => textOf(line) !== undefined && line !== error;
  const lines = listed.filter(saysMore);
  return lines.length > 0 ? lines : [told].filter(saysMore);
}

function passesWhen(details: JsonObject): string[] {
  const waitMs = waitMsOf(details);
  const at = textOf(details.retryAt);
  if (waitMs !== undefined) {
    const when = at ? `${at}, in` : 'in';
    return [`${when} ${formatDuration(waitMs)} (rewards clock advance ${formatDuration(waitMs)})`];
  }
  if (at) return [`from ${at} on`];
  if (details.reason === 'max_claims_reached') {
    return [
      `never again for this user (${details.totalClaims ?? '?'} of ${details.maxClaims ?? '?'} claims used)`,
    ];
  }
  if (Array.isArray(details.allowedChannels)) return [`in ${details.allowedChannels.join(', ')}`];
  return [];
}

/** `9 cooldown: last reward …, 23h59m58s of 24h left`. */
function checkOf(request: RequestDetail | undefined): string[] {
  const [event] = request?.explained ?? [];
  const place = event?.checks.findIndex(({ outcome }) => outcome === 'refused') ?? -1;
  const check = event?.checks[place];
  return check ? [`${place + 1} ${spaced(check.name)}: ${check.text}`] : [];
}

/** Lines that the answer itself does not have: the fix, and the check that would refuse the event after that. */
function beyond(request: RequestDetail | undefined): [string, string][] {
  const [event] = request?.explained ?? [];
  const check = event?.checks.find(({ outcome }) => outcome === 'refused');
  if (!request || !event || !check) return [];
  const lines: [string, string][] = check.or === undefined ? [] : [['fix', check.or]];
  const { passesAt, never } = event;
  if (passesAt !== null && passesAt !== check.passesAt) {
    lines.push(['then', `every check passes ${whenText(passesAt, request.now)}`]);
  } else if (never !== null && never.check !== check.name) {
    lines.push(['then', `${spaced(never.check)} refuses it: ${never.text}; waiting does not help`]);
  }
  return [...lines, ['more', `rewards requests explain ${shortRequestId(request.id)}`]];
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
