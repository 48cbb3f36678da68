/** `rewards send-event`: sends one customer event and shows the reward, or the reason for the refusal. */

import type { RewardBody } from '../../client/bodies.ts';
import { createClient } from '../../client/create-client.ts';
import { reasonsOf } from '../../client/reasons.ts';
import type { Reply } from '../../client/reply.ts';
import {
  dryRunEvent,
  type EventOutlook,
  type RequestDetail,
  showRequest,
} from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { stopwatch } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { type Problem, usageError } from '../machine/errors.ts';
import { type CommandResult, problemText } from '../machine/output.ts';
import { keyHeader, readJsonObject } from '../machine/read-input.ts';
import { isObject, type JsonObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { buildEventBody, type EventFlags } from '../service/event-body.ts';
import { type Expectation, parseExpectation } from '../service/expectation.ts';
import { namedBrand } from '../service/named-brand.ts';
import { noteRequest, serviceProblem, waitMsOf } from '../service/service-reply.ts';
import { callFor, clientFor, resolveTarget, type Target } from '../service/target.ts';
import { type Style, shortAddress, shortHash } from '../terminal/style.ts';
import { eventLines, spaced, whenText } from './requests/explanation.ts';
import { isRequestDetail } from './requests/requests.ts';
import { shortRequestId } from './requests/view.ts';

interface SendEventOptions extends EventFlags {
  file?: string;
  expect?: string;
  idempotencyKey?: string;
  apiKeyFile?: string;
  dryRun?: boolean;
  at?: string;
}

/** Checks the whole command line before it sends anything. */
export const sendEvent: Handler<SendEventOptions> = async (context, options) => {
  const { runtime } = context;
  const expected = options.expect === undefined ? undefined : parseExpectation(options.expect);
  const file = options.file === undefined ? undefined : await readJsonObject(runtime, options.file);
  const target = await resolveTarget(context);
  const sent = await bodyOf(context, options, { file, target });
  if (options.dryRun) return dryRun(context, { event: sent, options });
  if (options.at !== undefined)
    throw usageError('--at goes with --dry-run.', 'Add --dry-run, or move the clock there.');
  const headers = await headersOf(context, options);

  const elapsedMs = stopwatch();
  const reply = await clientFor(target, context).sendEvent(sent, { headers });
  const tookMs = elapsedMs();
  const requestId = noteRequest(context, reply);
  const rewarded = reply.status >= 200 && reply.status < 300;
  const explained = rewarded || !requestId ? undefined : await explanationOf(context, { target, requestId });
  const event: SentEvent = { sent, reply, tookMs, explained };

  const data = { status: reply.status, headers: reply.headers, body: reply.body };
  const problem = problemIn(event, expected);
  if (problem) {
    return {
      ok: false,
      error: problem,
      data,
      ...(!rewarded && {
        text: (style) =>
          [...(expected ? [problemText(problem, style)] : []), refusalLines(event, style)].join('\n'),
      }),
    };
  }
  return {
    ok: true,
    data,
    env: { status: reply.status, body: reply.body },
    text: (style) => (rewarded ? rewardLine(event, style) : expectedLine(event, style)),
  };
};

/** How the event would be decided; nothing is sent. */
async function dryRun(
  context: CommandContext,
  { event, options: { at, apiKeyFile } }: { event: JsonObject; options: SendEventOptions },
): Promise<CommandResult> {
  const call = await callFor(context);
  const withKey = apiKeyFile !== undefined;
  const reply = await call(dryRunEvent, { body: { event, withKey, ...(at !== undefined && { at }) } });
  return replyResult(reply, { text: outlookText });
}

function outlookText({ at, decision, rewardAmount, explained }: EventOutlook, style: Style): string {
  const said =
    rewardAmount === null
      ? style.yellow(`would be refused: ${spaced(decision)}`)
      : style.green(`would be rewarded: +${rewardAmount} RWT`);
  return [
    `${said}  ${style.dim(`at ${at}`)}`,
    ...eventLines(explained, { request: { now: at }, style }),
  ].join('\n');
}

/** A brand that the file or --set names by its id is sent as it is. */
async function bodyOf(
  context: CommandContext,
  options: SendEventOptions,
  { file, target }: { file: JsonObject | undefined; target: Target },
): Promise<JsonObject> {
  const listed = target.run?.brands ?? [];
  const isSaid =
    file !== undefined || [...(options.set ?? []), ...(options.setString ?? [])].some(namesBrand);
  if (isSaid && options.brand === undefined) return buildEventBody(options, { file, brands: listed });
  if (options.type === undefined && file === undefined)
    return buildEventBody(options, { file, brands: listed });
  const brand = await namedBrand(context, target, options.brand);
  const flags = options.brand === undefined ? options : { ...options, brand: brand?.brandId };
  return buildEventBody(flags, { file, brands: brand ? [brand] : [] });
}

const namesBrand = (assignment: string) => assignment.startsWith('brandId=');

/** Longest wait for the emulator's explanation of a refusal, which is optional. */
const EXPLANATION_TIMEOUT_MS = 2_000;

/** The emulator's explanation of a request; undefined for any other service. */
async function explanationOf(
  { settings, runtime }: CommandContext,
  { target, requestId }: { target: Target; requestId: string },
): Promise<RequestDetail | undefined> {
  const { hostname } = new URL(target.urls.control);
  const mayBeEmulator = target.run || runtime.env.REWARDS_CONTROL_TOKEN || LOOPBACK.has(hostname);
  if (!mayBeEmulator) return undefined;
  const client = createClient({
    urls: target.urls,
    controlToken: target.controlToken,
    timeoutMs: Math.min(settings.timeout, EXPLANATION_TIMEOUT_MS),
  });
  const reply = await client.call(showRequest, { path: { id: requestId } }).catch(() => undefined);
  return reply?.status === 200 && isRequestDetail(reply.body) ? reply.body : undefined;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

async function headersOf(
  { runtime }: CommandContext,
  { origin, idempotencyKey, apiKeyFile }: SendEventOptions & { origin?: string },
): Promise<Record<string, string>> {
  return {
    ...(origin && { origin }),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    ...(await keyHeader(runtime, apiKeyFile)),
  };
}

/** Undefined when the answer is a reward or, with --expect, the expected one. */
function problemIn({ reply, explained }: SentEvent, expected: Expectation | undefined): Problem | undefined {
  const problem = serviceProblem(reply, expected);
  if (!problem || expected) return problem;
  const details = { ...(isObject(problem.details) && problem.details), ...failedCheck(explained) };
  const isUseless = reply.status >= 500 && reasonsOf(reply).some((reason) => NOT_AGAIN.has(reason));
  return { ...problem, retryable: problem.retryable && !isUseless, details };
}

/** The check that refused, and when the whole event would pass. */
function failedCheck(request: RequestDetail | undefined): JsonObject {
  const [event] = request?.explained ?? [];
  const check = event?.checks.find(({ outcome }) => outcome === 'refused');
  return event && check ? { check, passesAt: event.passesAt, never: event.never } : {};
}

/** Failures of the service after which the same event must not be sent again, or would fail again. */
const NOT_AGAIN: ReadonlySet<string> = new Set(['payout_pending', 'insufficient_brand_balance']);

interface SentEvent {
  sent: JsonObject;
  reply: Reply;
  tookMs: number;
  /** The emulator's explanation of a refusal. */
  explained?: RequestDetail | undefined;
}

/** `200  +100 RWT  alice@demo.example -> 0x7099…79C8 (wallet created)  tx 0xa1b2…  41ms`. */
function rewardLine({ sent, reply, tookMs }: SentEvent, style: Style): string {
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
function refusalLines({ sent, reply, tookMs, explained }: SentEvent, style: Style): string {
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
