/** `rewards requests tail`: prints each new request until a signal or until its reader leaves. */
import type { ControlCall } from '../../client/control-call.ts';
import type { LedgerEndpoint } from '../../contract/control/control-endpoint.ts';
import { listRequests, type RequestFilter, type RequestSummary } from '../../contract/control/requests.ts';
import { delay } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { type ControlOptions, withControl } from '../service/control.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import { requestEntry } from './request-line.ts';

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
    const reply = await call(listRequests, { query: filter });
    mustSucceed(reply);
    return reply.body.requests;
  };
  const print = (requests: RequestSummary[]) => {
    for (const request of requests.reverse()) {
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
