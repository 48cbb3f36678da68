/** `rewards requests list|tail|show|explain`: reads past requests over the emulator's control API, or in production's database. */
import type { ControlCall } from '../../../client/control-call.ts';
import type { LedgerEndpoint } from '../../../contract/control/control-endpoint.ts';
import type { RequestDetail, RequestFilter, RequestSummary } from '../../../contract/control/requests.ts';
import * as requests from '../../../contract/control/requests.ts';
import { delay } from '../../../lib/timers.ts';
import { singleStep } from '../../../scenario/record/recorded-scenario.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { usageError } from '../../machine/errors.ts';
import { exitCodes } from '../../machine/exit-codes.ts';
import type { CommandResult } from '../../machine/output.ts';
import { isObject } from '../../service/assignments.ts';
import { type ControlOptions, type Emulator, withControl } from '../../service/control.ts';
import { mustSucceed, replyResult } from '../../service/control-reply.ts';
import { catchStopSignals } from '../../terminal/stop-signals.ts';
import { knownStack } from '../scenario/record.ts';
import { explanationText } from './explanation.ts';
import { asCurl, asHttp, noBodies, notReplayable, printable, secretOf } from './sendable.ts';
import { requestEntry, requestLine, requestText } from './view.ts';

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
    const again = printable(request, emulator);
    const { env } = context.runtime;
    const secret = withSecrets ? await secretOf(request, { emulator, env }) : undefined;
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

const POLL_MS = 200;
/** More requests than an emulator gets between two polls. */
const MOST_AT_ONCE = 500;

type TailOptions = RequestFilter & ControlOptions & { limit: number };

export const tailRequests: Handler<TailOptions> = (context, options) =>
  withControl(context, options, ({ call }) => tail(context, options, call));

async function tail(
  { runtime, settings, style }: CommandContext,
  { status, host, brand, decision, path, method, user, limit }: TailOptions,
  call: ControlCall<LedgerEndpoint>,
): Promise<number> {
  const stopping = new AbortController();
  const signals = catchStopSignals(runtime);
  void signals.first.then(() => stopping.abort());

  const younger = async (filter: RequestFilter): Promise<RequestSummary[]> => {
    const reply = await call(requests.listRequests, { query: filter });
    mustSucceed(reply);
    return reply.body.requests;
  };
  const print = (fresh: RequestSummary[]) => {
    for (const request of fresh.reverse()) {
      runtime.stdout.write(`${requestEntry(request, { format: settings.output, style: style.stdout })}\n`);
    }
  };

  const filter = { status, host, brand, decision, path, method, user };
  // The position is read first and without the filter, so that no request is missed between the two polls.
  let after = (await younger({ limit: 1 }))[0]?.id;
  if (limit > 0) {
    const first = await younger({ ...filter, limit });
    after = first[0]?.id ?? after;
    print(first);
  }
  while (!stopping.signal.aborted && !runtime.stdout.isClosed) {
    await delay(POLL_MS, stopping.signal);
    const fresh = await younger({ ...filter, limit: MOST_AT_ONCE, after });
    after = fresh[0]?.id ?? after;
    print(fresh);
  }
  signals.release();
  return exitCodes.done;
}
