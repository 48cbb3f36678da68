/** Translates answers of the service's hosts into results: done, refused, or unexpected. */
import { reasonsOf } from '../../client/reasons.ts';
import type { Reply } from '../../client/reply.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext } from '../machine/context.ts';
import { type Problem, problemOf } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import type { Style } from '../terminal/style.ts';
import { isObject, type JsonObject } from './assignments.ts';
import { type Expectation, matches } from './expectation.ts';
import { typedFix } from './typed-fixes.ts';

/** The error of an answer; undefined for a success or, with `--expect`, for the expected answer. */
export function serviceProblem(reply: Reply, expected?: Expectation): Problem | undefined {
  const reasons = reasonsOf(reply);
  if (expected) {
    if (matches(reply, expected)) return undefined;
    const wanted = [expected.status, expected.reason].filter(Boolean).join(':');
    const got = [reply.status, reasons[0]].filter(Boolean).join(':');
    return problemOf('E_UNEXPECTED_ANSWER', {
      message: `The answer is ${got}, not ${wanted} as expected.${saidBy(reply)}`,
      details: { expected: wanted, status: reply.status, reasons },
    });
  }
  if (reply.status >= 200 && reply.status < 300) return undefined;
  const body = isObject(reply.body) ? reply.body : {};
  const details = isObject(body.details) ? body.details : {};
  const refused = reply.status >= 400 && reply.status < 500;
  const waitMs = waitMsOf(details);
  const passes = waitMs === undefined ? undefined : formatDuration(waitMs);
  const said = typeof body.message === 'string' ? body.message : undefined;
  // Refusals of payment-mint have a message alone.
  const message =
    typeof body.error === 'string' ? body.error : (said ?? `The service answered ${reply.status}.`);
  const fix = typedFix(reasons, { details, said: said === message ? undefined : said });
  return problemOf(refused ? 'E_REFUSED' : 'E_SERVICE_FAILED', {
    // The relay says what is wrong and what to do in one text; what to type stands in the fix.
    message: said === undefined && fix !== undefined ? firstSentence(message) : message,
    ...(fix !== undefined && { fix }),
    ...(passes && {
      fix: `It passes in ${passes}; on an emulator after \`rewards clock advance ${passes}\`.`,
    }),
    retryable: refused ? waitMs !== undefined : true,
    details: { status: reply.status, reason: reasons[0] ?? null, ...details },
  });
}

/** Milliseconds until the same event would pass, where the service tells. */
export function waitMsOf(details: JsonObject): number | undefined {
  const seconds = details.remainingSeconds;
  return typeof seconds === 'number' ? seconds * 1_000 : undefined;
}

const firstSentence = (text: string): string => text.replace(/(?<=\.)\s[\s\S]*$/, '');

/** What the answer says of itself, as a second line; nothing for a success. */
function saidBy({ status, body }: Reply): string {
  if (status < 400 || !isObject(body)) return '';
  const said = [body.error, body.message].filter((text) => typeof text === 'string');
  return said.length === 0 ? '' : `\n${said.join(': ')}`;
}

/** The result of an answer: all of it as data; `text` formats a success, one line an expected refusal. */
export function serviceResult(
  reply: Reply,
  view: { expected?: Expectation | undefined; text: (style: Style) => string },
): CommandResult {
  const data = { status: reply.status, headers: reply.headers, body: reply.body };
  const problem = serviceProblem(reply, view.expected);
  if (problem) return { ok: false, error: problem, data };
  const succeeded = reply.status >= 200 && reply.status < 300;
  const expectedLine = (style: Style) =>
    `${style.green(String(reply.status))}  ${reasonsOf(reply)[0] ?? 'refused'}, as expected`;
  return {
    ok: true,
    data,
    env: { status: reply.status, body: reply.body },
    text: succeeded ? view.text : expectedLine,
  };
}

/** Notes the id that the service gave the request, for readers of the command's output; returns it. */
export function noteRequest(
  { about }: Pick<CommandContext, 'about'>,
  { headers }: Pick<Reply, 'headers'>,
): string | undefined {
  const requestId = headers['x-request-id'];
  if (requestId) about.requestId = requestId;
  return requestId;
}
