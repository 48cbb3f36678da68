/** Translates answers of the emulator's control API into results and errors. */

import type { ControlReply } from '../../client/control-call.ts';
import { reasonsOf } from '../../client/reasons.ts';
import { CliError, type ErrorCode, type Problem, problemOf } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import type { Style } from '../terminal/style.ts';
import { isObject } from './assignments.ts';
import { typedFix } from './typed-fixes.ts';

/** The error of an answer; undefined for a success that is the endpoint's. */
export function refusalOf(reply: ControlReply<unknown>): Problem | undefined {
  const { status, body, isAnswer } = reply;
  if (status >= 200 && status < 300 && isAnswer) return undefined;
  const details = { status, ...(isObject(body) ? { answer: body } : {}) };
  const { error, message, details: said } = isObject(body) ? body : {};
  // Something other than an emulator answers, so its text would only mislead. The control API's own
  // "there is no such thing" has a reason.
  const isOurs = isObject(said) && typeof said.reason === 'string';
  if ((status === 404 && !isOurs) || status < 400) return problemOf('E_NOT_EMULATOR', { details });
  const code = codeOf(status);
  const fix = typedFix(reasonsOf(reply), {
    details: said,
    // Of a token the error's own text says what to type.
    said: typeof message === 'string' && code !== 'E_CONTROL_TOKEN' ? message : undefined,
  });
  return problemOf(code, {
    details,
    ...(typeof error === 'string' && { message: error }),
    ...(fix !== undefined && { fix }),
  });
}

/** Throws what the answer means, unless it is a success that is the endpoint's. */
export function mustSucceed(reply: ControlReply<unknown>): void {
  const refusal = refusalOf(reply);
  if (refusal) throw new CliError(refusal.code, refusal);
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'E_CONTROL_TOKEN';
  return status >= 500 ? 'E_SERVICE_FAILED' : 'E_REFUSED';
}

/** The result of a control call: data and text for a success, an error for any other answer. */
export function replyResult<Body>(
  reply: ControlReply<Body>,
  view: {
    text: (body: Body, style: Style) => string;
    /** What `-o env` prints of it; all of it by default. */
    env?: (body: Body) => unknown;
  },
): CommandResult {
  const data = { status: reply.status, headers: reply.headers, body: reply.body };
  const refusal = refusalOf(reply);
  if (refusal) return { ok: false, error: refusal, data };
  const env = view.env ? view.env(reply.body) : reply.body;
  return { ok: true, data, env, text: (style) => view.text(reply.body, style) };
}
