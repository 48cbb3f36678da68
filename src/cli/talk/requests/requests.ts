/** `rewards requests list|show|explain`: reads past requests over the emulator's control API, or in production's database. */

import type { RequestDetail, RequestFilter } from '../../../contract/control/requests.ts';
import * as requests from '../../../contract/control/requests.ts';
import { singleStep } from '../../../scenario/record/single-step.ts';
import type { Handler } from '../../machine/context.ts';
import { usageError } from '../../machine/errors.ts';
import type { CommandResult } from '../../machine/output.ts';
import { asHttp } from '../../requests/export/as-http.ts';
import { credentialValue } from '../../requests/export/credentials.ts';
import { requestLine } from '../../requests/request-line.ts';
import { knownStack } from '../../scenario/record/known-stack.ts';
import { isObject } from '../../service/assignments.ts';
import { type ControlOptions, type Emulator, withControl } from '../../service/control.ts';
import { replyResult } from '../../service/control-reply.ts';
import { asCurl } from './as-curl.ts';
import { explanationText } from './explanation.ts';
import { noBodies, notReplayable, sendable } from './sendable.ts';
import { requestText } from './view.ts';

export const listRequests: Handler<RequestFilter & ControlOptions> = (context, options) => {
  const { status, host, brand, decision, path, method, user, limit } = options;
  return withControl(context, options, async ({ call }) => {
    const reply = await call(requests.listRequests, {
      query: { status, host, brand, decision, path, method, user, limit },
    });
    return replyResult(reply, {
      text: (body, style) =>
        body.requests.length === 0
          ? style.dim('the log has no request that fits')
          : body.requests.map((request) => requestLine(request, style)).join('\n'),
    });
  });
};

interface ShowOptions extends ControlOptions {
  id: string;
  as?: 'curl' | 'http' | 'scenario';
  withSecrets?: boolean;
}

export const showRequest: Handler<ShowOptions> = (context, options) => {
  const { id, as, withSecrets = false } = options;
  if (withSecrets && as === undefined)
    throw usageError('--with-secrets belongs to --as.', 'Say in which form: --as curl, or --as http.');
  if (withSecrets && as === 'scenario')
    throw usageError('A scenario has no secrets in it.', 'Leave --with-secrets out: its keys are variables.');
  return withControl(context, options, async ({ call, emulator }) => {
    if (as !== undefined && !emulator) throw noBodies();
    const reply = await call(requests.showRequest, { path: { id } });
    if (as === undefined || !emulator || !isRequestDetail(reply.body))
      return replyResult(reply, { text: requestText });
    const request = reply.body;
    if (as === 'scenario') return scenarioResult(request, emulator);
    const again = sendable(request, emulator);
    const { env } = context.runtime;
    const secret = withSecrets ? await credentialValue(request, { emulator, env }) : undefined;
    if (request.requestBodyKept === 'redacted')
      context.note('the body is kept without the secrets in it: fill in what is [redacted]');
    const text = as === 'curl' ? asCurl(again, secret) : asHttp(again, secret);
    return { ok: true, data: { id: request.id, as, text }, text: () => text };
  });
};

/** Its credential has a name in scenarios, so there is nothing to fill in. */
async function scenarioResult(request: RequestDetail, emulator: Emulator): Promise<CommandResult> {
  const step = singleStep(request, await knownStack(emulator));
  if ('leftOut' in step) throw notReplayable(request.id, step.leftOut);
  return { ok: true, data: { id: request.id, as: 'scenario', text: step.yaml }, text: () => step.yaml };
}

export const explainRequest: Handler<ControlOptions & { id: string }> = (context, options) =>
  withControl(context, options, async ({ call }) =>
    replyResult(await call(requests.showRequest, { path: { id: options.id } }), {
      text: explanationText,
    }),
  );

export const isRequestDetail = (body: unknown): body is RequestDetail =>
  isObject(body) && typeof body.id === 'string' && Array.isArray(body.explained);
